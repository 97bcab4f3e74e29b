package org.gofer.interop;

/** An enum whose constants have bodies: their classes are {@code Operation$1} … and not {@code Operation}. */
public enum Operation {
    ADD {
        @Override
        public int apply(int a, int b) {
            return a + b;
        }
    },
    MULTIPLY {
        @Override
        public int apply(int a, int b) {
            return a * b;
        }
    };

    public abstract int apply(int a, int b);
}
