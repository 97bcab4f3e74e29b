package org.gofer.provider;

/** Extra service time by age: points joined by straight lines, the last one holds for ever. */
final class ColdStart {
    private final long[] ages;
    private final long[] extras;

    private ColdStart(long[] ages, long[] extras) {
        this.ages = ages;
        this.extras = extras;
    }

    /** Reads {@code age:extra,age:extra}, both in ms, ages growing; null is no extra time at any age. */
    static ColdStart parse(String text) {
        if (text == null) {
            return new ColdStart(new long[] {0}, new long[] {0});
        }
        String[] points = text.split(",");
        long[] ages = new long[points.length];
        long[] extras = new long[points.length];
        for (int i = 0; i < points.length; i++) {
            String[] pair = points[i].trim().split(":");
            try {
                ages[i] = Long.parseLong(pair[0]);
                extras[i] = Long.parseLong(pair[1]);
            } catch (RuntimeException e) {
                throw new IllegalArgumentException("--cold-start " + text + ": point \"" + points[i] + "\" is not age:extra");
            }
            if (extras[i] < 0 || i > 0 && ages[i] <= ages[i - 1]) {
                throw new IllegalArgumentException("--cold-start " + text + ": ages must grow and extras not be negative");
            }
        }
        return new ColdStart(ages, extras);
    }

    long extraMillis(long age) {
        if (age <= ages[0]) {
            return extras[0];
        }
        for (int i = 1; i < ages.length; i++) {
            if (age < ages[i]) {
                return extras[i - 1] + (extras[i] - extras[i - 1]) * (age - ages[i - 1]) / (ages[i] - ages[i - 1]);
            }
        }
        return extras[extras.length - 1];
    }
}
