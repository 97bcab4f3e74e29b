package org.gofer.interop;

import java.io.Serializable;
import java.util.List;

/** Refers to its own class, and possibly to itself. */
public class Employee implements Serializable {
    private static final long serialVersionUID = 1L;

    private String name;
    private Employee manager;
    private List<Employee> reports;

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    public Employee getManager() {
        return manager;
    }

    public void setManager(Employee manager) {
        this.manager = manager;
    }

    public List<Employee> getReports() {
        return reports;
    }

    public void setReports(List<Employee> reports) {
        this.reports = reports;
    }
}
