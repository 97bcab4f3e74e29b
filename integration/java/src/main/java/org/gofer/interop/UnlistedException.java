package org.gofer.interop;

/** Unchecked and named in no signature: an object from 2.6 to 3.2, status 50 from 3.3 on. */
public class UnlistedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private int code;

    public UnlistedException() {
    }

    public UnlistedException(String message, int code) {
        super(message);
        this.code = code;
    }

    public int getCode() {
        return code;
    }
}
