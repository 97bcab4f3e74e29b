package org.gofer.interop;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/** Nested objects, collections and inherited fields. */
public class Order extends Document {
    private static final long serialVersionUID = 1L;

    private Customer customer;
    private List<Item> items;
    private Map<String, String> labels;
    private Color color;
    private BigDecimal total;
    private boolean paid;

    public Customer getCustomer() {
        return customer;
    }

    public void setCustomer(Customer customer) {
        this.customer = customer;
    }

    public List<Item> getItems() {
        return items;
    }

    public void setItems(List<Item> items) {
        this.items = items;
    }

    public Map<String, String> getLabels() {
        return labels;
    }

    public void setLabels(Map<String, String> labels) {
        this.labels = labels;
    }

    public Color getColor() {
        return color;
    }

    public void setColor(Color color) {
        this.color = color;
    }

    public BigDecimal getTotal() {
        return total;
    }

    public void setTotal(BigDecimal total) {
        this.total = total;
    }

    public boolean isPaid() {
        return paid;
    }

    public void setPaid(boolean paid) {
        this.paid = paid;
    }
}
