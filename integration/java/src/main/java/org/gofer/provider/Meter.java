package org.gofer.provider;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.gofer.interop.InteropService;
import org.gofer.interop.ProviderInfo;

/** Stands before the service: counts every call, slows it, lets a share of the calls fail. */
final class Meter implements InvocationHandler {
    private final InteropService service;
    private final ProviderInfo identity;
    private final long delay;
    private final double failureRate;
    private final ColdStart coldStart;

    // Guarded by this.
    private final Map<String, Long> callsByMethod = new TreeMap<>();
    private long startedAt;
    private long calls;
    private long failures;
    private int inFlight;
    private int peak;

    Meter(InteropService service, ProviderInfo identity, Options options) {
        this.service = service;
        this.identity = identity;
        this.delay = options.number("delay");
        this.failureRate = options.share("failure-rate");
        this.coldStart = ColdStart.parse(options.text("cold-start"));
        reset();
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
        switch (method.getName()) {
            case "whoAmI":
                return info();
            case "reset":
                reset();
                return call(method, args);
            default:
                if (method.getDeclaringClass() != InteropService.class) {
                    return call(method, args);
                }
        }
        boolean fails = begin(method);
        Object result = null;
        try {
            pause(delay + coldStart.extraMillis(age()));
            if (fails) {
                throw new IllegalStateException(identity.getName() + ": fails on purpose (--failure-rate " + failureRate + ")");
            }
            result = call(method, args);
            return result;
        } finally {
            if (result instanceof CompletableFuture) {
                ((CompletableFuture<?>) result).whenComplete((value, error) -> end());
            } else {
                end();
            }
        }
    }

    /** An interruption only shortens it: Dubbo 2.7 interrupts the calls under way when it shuts down. */
    private static void pause(long millis) {
        if (millis <= 0) {
            return;
        }
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Object call(Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(service, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private synchronized boolean begin(Method method) {
        callsByMethod.merge(signature(method), 1L, Long::sum);
        calls++;
        peak = Math.max(peak, ++inFlight);
        // Evenly spread instead of drawn by chance: a test can say which share of any run of calls fails.
        boolean fails = (long) (calls * failureRate) > (long) ((calls - 1) * failureRate);
        if (fails) {
            failures++;
        }
        return fails;
    }

    private synchronized void end() {
        inFlight--;
    }

    private synchronized long age() {
        return System.currentTimeMillis() - startedAt;
    }

    private synchronized void reset() {
        startedAt = System.currentTimeMillis();
        callsByMethod.clear();
        calls = 0;
        failures = 0;
        peak = inFlight;
    }

    private synchronized ProviderInfo info() {
        ProviderInfo info = new ProviderInfo();
        info.setName(identity.getName());
        info.setDubbo(identity.getDubbo());
        info.setPort(identity.getPort());
        info.setStartedAt(startedAt);
        info.setCalls(calls);
        info.setFailures(failures);
        info.setInFlight(inFlight);
        info.setPeak(peak);
        info.setCallsByMethod(new TreeMap<>(callsByMethod));
        return info;
    }

    /** As the Go side names a method: {@code overload(java.lang.String,int)}. */
    static String signature(Method method) {
        StringBuilder text = new StringBuilder(method.getName()).append('(');
        for (Class<?> type : method.getParameterTypes()) {
            text.append(text.charAt(text.length() - 1) == '(' ? "" : ",").append(type.getCanonicalName());
        }
        return text.append(')').toString();
    }
}
