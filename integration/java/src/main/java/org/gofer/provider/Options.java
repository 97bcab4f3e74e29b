package org.gofer.provider;

import java.util.LinkedHashMap;
import java.util.Map;

/** The command line: {@code --flag value}, {@code --flag=value}, switches without a value. */
final class Options {
    private static final String SWITCH = "";

    /** Flag, and the default or {@link #SWITCH} or null for "not set". */
    private static final Map<String, String> FLAGS = new LinkedHashMap<>();
    private static final Map<String, String> HELP = new LinkedHashMap<>();

    static {
        flag("name", null, "who whoAmI and hello answer to be; default interop-<Dubbo version>");
        flag("port", "0", "port of the dubbo protocol; 0 takes a free one");
        flag("host", "127.0.0.1", "host of the protocol; what is registered says DUBBO_IP_TO_REGISTRY");
        flag("zk", "127.0.0.1:2181", "ZooKeeper as host:port[,host:port]; none registers nowhere");
        flag("app", null, "application name; default the provider's name");
        flag("group", null, "group of the service");
        flag("version", null, "version of the service");
        flag("token", null, "token that a consumer must send");
        flag("tag", null, "dubbo.tag");
        flag("weight", null, "weight");
        flag("warmup", null, "warm-up time in ms");
        flag("actives", null, "calls in flight per consumer and method");
        flag("executes", null, "calls in flight per method in this provider");
        flag("loadbalance", null, "load balance strategy recommended to consumers");
        flag("timeout", null, "timeout in ms recommended to consumers");
        flag("threads", null, "threads of the protocol's pool (default 200, no queue)");
        flag("payload", null, "largest body in bytes");
        flag("heartbeat", null, "heartbeat period in ms");
        flag("accepts", null, "largest number of connections");
        flag("serialization", null, "default serialization");
        flag("register-mode", null, "3.x: interface, instance or all");
        flag("registry-root", null, "group of the registry, its root node (default dubbo)");
        flag("registry-user", null, "digest credentials of the registry, user:password");
        flag("simplified", SWITCH, "register the short form of the URL (2.7 and later)");
        flag("bootstrap", SWITCH, "3.x: start through DubboBootstrap (global configuration, as Spring Boot does)");
        flag("metadata-port", null, "3.x: port of the MetadataService instead of 20880, 20881 ...");
        flag("shutdown-wait", null, "ms that a graceful shutdown waits for consumers (default 10000)");
        flag("param", null, "key=value of the service's URL; may be repeated");
        flag("protocol-param", null, "key=value of the protocol; may be repeated");
        flag("registry-param", null, "key=value of the registry; may be repeated");
        flag("delay", "0", "ms that every call takes longer");
        flag("failure-rate", "0", "share of calls, 0 to 1, that throw IllegalStateException, evenly spread");
        flag("cold-start", null, "age:extra[,age:extra...]: extra ms per call by ms since the start, linear between");
    }

    private final Map<String, String> values = new LinkedHashMap<>();
    private final Map<String, Map<String, String>> pairs = new LinkedHashMap<>();

    private static void flag(String name, String fallback, String help) {
        FLAGS.put(name, fallback);
        HELP.put(name, help);
    }

    static Options parse(String[] args) {
        Options options = new Options();
        for (int i = 0; i < args.length; i++) {
            if (!args[i].startsWith("--")) {
                throw new IllegalArgumentException("unexpected argument \"" + args[i] + "\"");
            }
            String name = args[i].substring(2);
            String value = null;
            int equals = name.indexOf('=');
            if (equals >= 0) {
                value = name.substring(equals + 1);
                name = name.substring(0, equals);
            }
            if (!FLAGS.containsKey(name)) {
                throw new IllegalArgumentException("unknown flag --" + name);
            }
            if (SWITCH.equals(FLAGS.get(name))) {
                options.values.put(name, value == null ? "true" : value);
                continue;
            }
            if (value == null && ++i == args.length) {
                throw new IllegalArgumentException("--" + name + " needs a value");
            }
            options.set(name, value == null ? args[i] : value);
        }
        return options;
    }

    private void set(String name, String value) {
        if (!name.equals("param") && !name.endsWith("-param")) {
            values.put(name, value);
            return;
        }
        int equals = value.indexOf('=');
        if (equals <= 0) {
            throw new IllegalArgumentException("--" + name + " " + value + ": want key=value");
        }
        pairs(name).put(value.substring(0, equals), value.substring(equals + 1));
    }

    static String usage() {
        StringBuilder text = new StringBuilder("flags:\n");
        for (Map.Entry<String, String> entry : HELP.entrySet()) {
            text.append(String.format("  --%-16s %s%n", entry.getKey(), entry.getValue()));
        }
        return text.toString();
    }

    /** The value of a flag, its default, or null. */
    String text(String name) {
        String value = values.get(name);
        return value != null ? value : SWITCH.equals(FLAGS.get(name)) ? null : FLAGS.get(name);
    }

    boolean on(String name) {
        return "true".equals(text(name));
    }

    /** The number given, or null. */
    Integer number(String name) {
        String value = text(name);
        try {
            return value == null ? null : Integer.valueOf(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("--" + name + " " + value + ": not a whole number");
        }
    }

    double share(String name) {
        String value = text(name);
        try {
            double share = Double.parseDouble(value);
            if (share >= 0 && share <= 1) {
                return share;
            }
        } catch (NumberFormatException e) {
            // Reported below like a number out of range.
        }
        throw new IllegalArgumentException("--" + name + " " + value + ": not a number from 0 to 1");
    }

    /** The key=value pairs of a flag that may be repeated; add to it what has no setter. */
    Map<String, String> pairs(String name) {
        return pairs.computeIfAbsent(name, key -> new LinkedHashMap<>());
    }
}
