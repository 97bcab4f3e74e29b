package org.gofer.interop;

import java.io.Serializable;
import java.util.Date;

/** What every document has: the root of an inheritance of three classes. */
public class Document implements Serializable {
    private static final long serialVersionUID = 1L;

    private long id;
    private String title;
    private Date createdAt;

    public long getId() {
        return id;
    }

    public void setId(long id) {
        this.id = id;
    }

    public String getTitle() {
        return title;
    }

    public void setTitle(String title) {
        this.title = title;
    }

    public Date getCreatedAt() {
        return createdAt;
    }

    public void setCreatedAt(Date createdAt) {
        this.createdAt = createdAt;
    }
}
