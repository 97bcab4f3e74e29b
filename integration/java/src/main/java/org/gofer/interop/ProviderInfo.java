package org.gofer.interop;

import java.io.Serializable;
import java.util.Map;

/** Who a provider is and what it has done since its start or {@link InteropService#reset}. */
public class ProviderInfo implements Serializable {
    private static final long serialVersionUID = 1L;

    private String name;
    private String dubbo;
    private int port;
    private long startedAt;
    private long calls;
    private long failures;
    private int inFlight;
    private int peak;
    private Map<String, Long> callsByMethod;

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    public String getDubbo() {
        return dubbo;
    }

    public void setDubbo(String dubbo) {
        this.dubbo = dubbo;
    }

    public int getPort() {
        return port;
    }

    public void setPort(int port) {
        this.port = port;
    }

    public long getStartedAt() {
        return startedAt;
    }

    public void setStartedAt(long startedAt) {
        this.startedAt = startedAt;
    }

    public long getCalls() {
        return calls;
    }

    public void setCalls(long calls) {
        this.calls = calls;
    }

    public long getFailures() {
        return failures;
    }

    public void setFailures(long failures) {
        this.failures = failures;
    }

    public int getInFlight() {
        return inFlight;
    }

    public void setInFlight(int inFlight) {
        this.inFlight = inFlight;
    }

    public int getPeak() {
        return peak;
    }

    public void setPeak(int peak) {
        this.peak = peak;
    }

    public Map<String, Long> getCallsByMethod() {
        return callsByMethod;
    }

    public void setCallsByMethod(Map<String, Long> callsByMethod) {
        this.callsByMethod = callsByMethod;
    }
}
