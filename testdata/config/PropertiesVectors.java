import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;

/**
 * Writes properties.json: texts and what java.util.Properties reads in them.
 * Run with: java PropertiesVectors.java > properties.json
 */
public class PropertiesVectors {
    private static final String[] PIECES = {
        "a", "b", "key", "value", "=", ":", " ", "\t", "\f", "\n", "\r", "\r\n", "\n\n", "\\", "\\\\", "\\\n", "\\\r\n",
        "#", "!", "\\#", "\\!", "\\=", "\\:", "\\ ", "\\t", "\\n", "\\r", "\\f", "\\z", "\\u0041", "\\u00e9", "\\ud83d\\ude00",
        "\\u12", "\\uzzzz", "é", "日本", "😀", "'", "\"", "${x}", ".", "-", "_", "[0]", "\n# note\n", "\n  ", "k=v\n",
    };

    private static final String[] TEXTS = {
        "", "\n", "a=b", "a = b", "a:b", "a b", "a", "a=", "=b", ":b", "a==b", "a=:b", "a := b", "  a=b  ", "a=b=c", "a\tb", "a\\=b=c",
        "a\\:b:c", "a\\ b c", "a=b\\\n   c", "a=b\\\r\n\tc", "a=b\\", "a=b\\\\", "a=b\\\\\nc=d", "a=b\\\\\\\nc=d", "a=b\\\n\nc=d",
        "\\\na=b", "\\\n#a=b", "a=b\\\n#c", "#a=b\\\nc=d", "! a\nb=c", "a=1\na=2", "a=\\u0041\\u00E9", "a=\\ud83d\\ude00", "a=\\u00", "\\u0061=b",
        "a=\\n\\t\\r\\f\\\\\\q", "a=b\rc=d", "a=b\n\rc=d", "a=#b", "a=b#c", "a#b=c", "dubbo.registry.address=zookeeper\\://127.0.0.1\\:2181",
        "dubbo.registry.address zookeeper://127.0.0.1:2181", "a=b\\\n  \\\n c", "a = \\ b", "a=b \\\n c", "\f a=b", "a\f=\fb", "é=ü",
        "dubbo.consumer.filter = one,\\\n    two,\\\n    three",
    };

    public static void main(String[] args) throws IOException {
        List<String> rows = new ArrayList<>();
        for (String text : TEXTS) {
            rows.add(row(text));
        }
        Random random = new Random(20261130);
        for (int i = 0; i < 400; i++) {
            StringBuilder text = new StringBuilder();
            for (int n = 1 + random.nextInt(14); n > 0; n--) {
                text.append(PIECES[random.nextInt(PIECES.length)]);
            }
            rows.add(row(text.toString()));
        }
        byte[] out = ("[\n" + String.join(",\n", rows) + "\n]\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(out);
        System.out.flush();
    }

    /** What Java refuses, and half a character, which UTF-8 cannot write, is an error. */
    private static String row(String text) throws IOException {
        Properties p = new Properties();
        try {
            p.load(new StringReader(text));
        } catch (IllegalArgumentException e) {
            return "{\"text\":" + quote(text) + ",\"error\":true}";
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(p.toString())) { // half a character
            return "{\"text\":" + quote(text) + ",\"error\":true}";
        }
        List<String> pairs = new ArrayList<>();
        new TreeMap<>(p).forEach((k, v) -> pairs.add(quote((String) k) + ":" + quote((String) v)));
        return "{\"text\":" + quote(text) + ",\"want\":{" + String.join(",", pairs) + "}}";
    }

    private static String quote(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }
}
