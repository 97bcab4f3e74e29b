package org.gofer.provider;

import java.lang.reflect.Array;
import java.util.Collection;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;

/** Text about a value that names the class of it and of everything in it. */
final class Description {
    private Description() {
    }

    static String of(Object value) {
        if (value == null) {
            return "null";
        }
        String type = value.getClass().getCanonicalName() != null ? value.getClass().getCanonicalName() : value.getClass().getName();
        if (value.getClass().isArray()) {
            StringJoiner text = new StringJoiner(", ", type + "{", "}");
            for (int i = 0; i < Array.getLength(value); i++) {
                text.add(value.getClass().getComponentType().isPrimitive() ? String.valueOf(Array.get(value, i)) : of(Array.get(value, i)));
            }
            return text.toString();
        }
        if (value instanceof Collection) {
            StringJoiner text = new StringJoiner(", ", type + "[", "]");
            ((Collection<?>) value).forEach(element -> text.add(of(element)));
            return text.toString();
        }
        if (value instanceof Map) {
            // Sorted by the text of the key: the order of a HashMap is nobody's promise.
            Map<String, String> sorted = new TreeMap<>();
            ((Map<?, ?>) value).forEach((key, element) -> sorted.put(of(key), of(element)));
            StringJoiner text = new StringJoiner(", ", type + "{", "}");
            sorted.forEach((key, element) -> text.add(key + "=" + element));
            return text.toString();
        }
        return value.getClass().getName().startsWith("java.") || value instanceof Enum ? type + " " + value : type;
    }
}
