package org.gofer.interop;

import java.io.Serializable;
import java.util.Objects;

/** Ten scalar fields, no references; equal by {@code sku}, so that it can be a member of a set. */
public class Item implements Serializable {
    private static final long serialVersionUID = 1L;

    private String sku;
    private String name;
    private int quantity;
    private long priceCents;
    private double weight;
    private boolean taxed;
    private int warehouse;
    private long revision;
    private double discount;
    private String note;

    public String getSku() {
        return sku;
    }

    public void setSku(String sku) {
        this.sku = sku;
    }

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    public int getQuantity() {
        return quantity;
    }

    public void setQuantity(int quantity) {
        this.quantity = quantity;
    }

    public long getPriceCents() {
        return priceCents;
    }

    public void setPriceCents(long priceCents) {
        this.priceCents = priceCents;
    }

    public double getWeight() {
        return weight;
    }

    public void setWeight(double weight) {
        this.weight = weight;
    }

    public boolean isTaxed() {
        return taxed;
    }

    public void setTaxed(boolean taxed) {
        this.taxed = taxed;
    }

    public int getWarehouse() {
        return warehouse;
    }

    public void setWarehouse(int warehouse) {
        this.warehouse = warehouse;
    }

    public long getRevision() {
        return revision;
    }

    public void setRevision(long revision) {
        this.revision = revision;
    }

    public double getDiscount() {
        return discount;
    }

    public void setDiscount(double discount) {
        this.discount = discount;
    }

    public String getNote() {
        return note;
    }

    public void setNote(String note) {
        this.note = note;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Item && Objects.equals(sku, ((Item) other).sku);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(sku);
    }
}
