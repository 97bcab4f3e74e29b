package org.gofer.consumer;

/** A service whose providers answer who they are: which one it is depends on the keys. */
public interface Placement {
    String place(Object key);

    String placeBoth(Object first, Object second);
}
