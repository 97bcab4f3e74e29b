package org.gofer.interop;

import java.util.List;

/** Declared by {@link InteropService#findOrder}. */
public class OrderException extends Exception {
    private static final long serialVersionUID = 1L;

    private int code;
    private long orderId;
    private List<String> reasons;

    /** For hessian-lite, which calls the smallest constructor. */
    public OrderException() {
    }

    public OrderException(String message, int code, long orderId, List<String> reasons, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.orderId = orderId;
        this.reasons = reasons;
    }

    public int getCode() {
        return code;
    }

    public long getOrderId() {
        return orderId;
    }

    public List<String> getReasons() {
        return reasons;
    }
}
