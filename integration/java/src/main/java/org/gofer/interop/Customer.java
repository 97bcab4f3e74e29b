package org.gofer.interop;

import java.io.Serializable;

/** An object inside another. */
public class Customer implements Serializable {
    private static final long serialVersionUID = 1L;

    private String name;
    private Address address;
    private String[] emails;

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    public Address getAddress() {
        return address;
    }

    public void setAddress(Address address) {
        this.address = address;
    }

    public String[] getEmails() {
        return emails;
    }

    public void setEmails(String[] emails) {
        this.emails = emails;
    }
}
