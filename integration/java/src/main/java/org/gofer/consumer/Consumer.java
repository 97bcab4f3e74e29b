package org.gofer.consumer;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.rpc.service.GenericService;

/**
 * Calls {@link Placement} with the keys that it reads, one a line, and prints for each which provider has answered the
 * typed call and the generic one: {@code PLACED typed generic}.
 *
 * <p>Arguments: ZooKeeper as host:port, then parameters of the reference as key=value. A line is one key, or two
 * separated by a tabulator, each as {@code type:text}; see {@link #value}.
 */
public final class Consumer {
    private Consumer() {
    }

    public static void main(String[] args) {
        int status = 0;
        try {
            run(args);
        } catch (Throwable e) {
            e.printStackTrace();
            status = 1;
        }
        System.out.flush();
        // Dubbo's shutdown takes seconds, and its threads are not daemons.
        Runtime.getRuntime().halt(status);
    }

    private static void run(String[] args) throws Exception {
        System.setProperty("dubbo.application.qos.enable", "false");
        System.setProperty("dubbo.application.qos-enable", "false");
        System.setProperty("dubbo.application.service-discovery.migration", "FORCE_INTERFACE");
        Map<String, String> parameters = new LinkedHashMap<>();
        for (int i = 1; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            parameters.put(pair[0], pair[1]);
        }
        ApplicationConfig application = new ApplicationConfig("java-consumer");
        RegistryConfig registry = new RegistryConfig("zookeeper://" + args[0]);
        registry.setTimeout(30_000);
        Placement typed = reference(Placement.class, application, registry, parameters).get();
        ReferenceConfig<GenericService> config = reference(GenericService.class, application, registry, parameters);
        config.setInterface(Placement.class.getName());
        config.setGeneric("true");
        GenericService generic = config.get();

        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] keys = line.split("\t", -1);
            Object first = value(keys[0]);
            String of;
            Object ofGeneric;
            if (keys.length == 1) {
                of = typed.place(first);
                ofGeneric = generic.$invoke("place", new String[] {"java.lang.Object"}, new Object[] {first});
            } else {
                Object second = value(keys[1]);
                of = typed.placeBoth(first, second);
                ofGeneric = generic.$invoke("placeBoth", new String[] {"java.lang.Object", "java.lang.Object"},
                        new Object[] {first, second});
            }
            System.out.println("PLACED " + of + " " + ofGeneric);
        }
    }

    private static <T> ReferenceConfig<T> reference(
            Class<T> type, ApplicationConfig application, RegistryConfig registry, Map<String, String> parameters) {
        ReferenceConfig<T> reference = new ReferenceConfig<>();
        reference.setApplication(application);
        reference.setRegistry(registry);
        reference.setInterface(type);
        reference.setTimeout(20_000);
        reference.setRetries(0);
        reference.setParameters(new LinkedHashMap<>(parameters));
        return reference;
    }

    /** Reads a key such as {@code long:42}, {@code list:a,b} (of strings) or {@code null:}. */
    private static Object value(String key) {
        String[] parts = key.split(":", 2);
        String text = parts[1];
        switch (parts[0]) {
            case "null":
                return null;
            case "string":
                return text;
            case "char":
                return text.charAt(0);
            case "bool":
                return Boolean.valueOf(text);
            case "byte":
                return Byte.valueOf(text);
            case "short":
                return Short.valueOf(text);
            case "int":
                return Integer.valueOf(text);
            case "long":
                return Long.valueOf(text);
            case "float":
                return Float.valueOf(text);
            case "double":
                return Double.valueOf(text);
            case "decimal":
                return new BigDecimal(text);
            case "integer":
                return new BigInteger(text);
            case "list":
                List<Object> list = new ArrayList<>();
                for (String element : text.split(",", -1)) {
                    list.add(element.equals("null") ? null : element);
                }
                return list;
            default:
                throw new IllegalArgumentException("unknown type in " + key);
        }
    }
}
