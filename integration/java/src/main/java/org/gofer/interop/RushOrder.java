package org.gofer.interop;

/** The third class of the inheritance; {@link InteropService#rush} makes it known to Dubbo 3.3's allow list. */
public class RushOrder extends Order {
    private static final long serialVersionUID = 1L;

    private int hours;

    public int getHours() {
        return hours;
    }

    public void setHours(int hours) {
        this.hours = hours;
    }
}
