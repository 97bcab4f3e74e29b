package org.gofer.interop;

import java.io.Serializable;
import java.util.List;

/** A generic class. */
public class Page<T> implements Serializable {
    private static final long serialVersionUID = 1L;

    private int number;
    private int total;
    private List<T> rows;

    public int getNumber() {
        return number;
    }

    public void setNumber(int number) {
        this.number = number;
    }

    public int getTotal() {
        return total;
    }

    public void setTotal(int total) {
        this.total = total;
    }

    public List<T> getRows() {
        return rows;
    }

    public void setRows(List<T> rows) {
        this.rows = rows;
    }
}
