package org.gofer.interop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDateTime;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * One method for every kind of value and every way a call can end.
 *
 * <p>{@code echo…} answers its argument unchanged. An echo cannot tell a value that was misread on the way in
 * and mis-written back on the way out from a right one: {@link #describe} and {@link #overload()} answer text
 * about what really arrived.
 */
public interface InteropService {

    // Primitives.
    boolean echoBoolean(boolean value);
    byte echoByte(byte value);
    short echoShort(short value);
    char echoChar(char value);
    int echoInt(int value);
    long echoLong(long value);
    float echoFloat(float value);
    double echoDouble(double value);

    // Boxed, which may be null.
    Boolean echoBoxedBoolean(Boolean value);
    Byte echoBoxedByte(Byte value);
    Short echoBoxedShort(Short value);
    Character echoBoxedChar(Character value);
    Integer echoBoxedInt(Integer value);
    Long echoBoxedLong(Long value);
    Float echoBoxedFloat(Float value);
    Double echoBoxedDouble(Double value);

    // Values of the JDK, which may be null.
    String echoString(String value);
    BigDecimal echoBigDecimal(BigDecimal value);
    BigInteger echoBigInteger(BigInteger value);
    Date echoDate(Date value);
    LocalDateTime echoLocalDateTime(LocalDateTime value);
    Object echoObject(Object value);

    // Arrays.
    byte[] echoBytes(byte[] value);
    boolean[] echoBooleans(boolean[] value);
    short[] echoShorts(short[] value);
    char[] echoChars(char[] value);
    int[] echoInts(int[] value);
    long[] echoLongs(long[] value);
    float[] echoFloats(float[] value);
    double[] echoDoubles(double[] value);
    String[] echoStrings(String[] value);
    Integer[] echoBoxedInts(Integer[] value);
    int[][] echoMatrix(int[][] value);
    Item[] echoItemArray(Item[] value);

    // Enums.
    Color echoColor(Color value);
    Operation echoOperation(Operation value);
    int apply(Operation operation, int a, int b);

    // Objects: flat, every field type, nested with inheritance, self-referencing.
    Item echoItem(Item value);
    AllTypes echoAllTypes(AllTypes value);
    Order echoOrder(Order value);
    RushOrder rush(Order order, int hours);
    Employee echoEmployee(Employee value);
    /** An employee who is their own manager. */
    Employee selfManaged(String name);

    // Collections.
    List<String> echoStringList(List<String> value);
    List<Long> echoLongList(List<Long> value);
    List<Item> echoItemList(List<Item> value);
    List<Order> echoOrderList(List<Order> value);
    Set<String> echoStringSet(Set<String> value);
    Set<Item> echoItemSet(Set<Item> value);
    Map<String, String> echoStringMap(Map<String, String> value);
    Map<Integer, Long> echoNumberMap(Map<Integer, Long> value);
    Map<String, Item> echoItemMap(Map<String, Item> value);
    Map<String, List<Item>> echoNestedMap(Map<String, List<Item>> value);
    /** {@code size} items that start at {@code number * size}, of a total of 1000. */
    Page<Item> page(int number, int size);
    EnumMap<Color, Integer> stock();
    TreeSet<String> sorted(List<String> values);
    /** Cannot be sent: {@code Optional} is not {@code Serializable}. */
    Optional<String> optional(String value);

    // Overloads: each answers its own signature, as in "overload(long)".
    String overload();
    String overload(int value);
    String overload(long value);
    String overload(Integer value);
    String overload(String value);
    String overload(Object value);
    String overload(int[] value);
    String overload(List<String> value);
    String overload(String name, int value);

    // What arrived, and void.
    /** The classes and values of what arrived: {@code java.util.ArrayList[java.lang.Long 1, null]}. */
    String describe(Object value);
    void nothing();
    void store(String key, String value);
    /** What {@link #store} kept under the key, or null. */
    String load(String key);
    /** {@code length} characters of which every tenth pair is a surrogate pair. */
    String text(int length);

    // Exceptions.
    /** Answers order {@code id}; throws, with a cause, when {@code id} is not positive. */
    Order findOrder(long id) throws OrderException;
    /**
     * Throws what no signature names. Kinds: {@code unlisted} ({@link UnlistedException}), {@code state}
     * (IllegalStateException), {@code caused} (IllegalStateException caused by an IOException), {@code argument},
     * {@code arithmetic}, {@code null}, {@code unsupported}, {@code foreign} (a class of another jar),
     * {@code overflow} (StackOverflowError), {@code error} (Error). Any other kind is answered.
     */
    String raise(String kind);

    // Time, failure, context.
    CompletableFuture<String> future(String value, long delayMillis);
    CompletableFuture<String> failedFuture(String message);
    /** Answers {@code millis} after it has slept that long. */
    long slow(long millis);
    /** Throws IllegalStateException on each {@code n}-th call since the start or {@link #reset}; else the number of the call. */
    long failEvery(int n);
    /** The attachments of the request; those of {@code reply} are attached to the response. */
    Map<String, String> attachments(Map<String, String> reply);
    /** {@code "hello NAME from PROVIDER"}. */
    String hello(String name);

    // About the provider. These two are neither counted nor slowed nor failed.
    ProviderInfo whoAmI();
    /** Sets counters, stored values and the age of the cold-start curve back to the start. */
    void reset();
}
