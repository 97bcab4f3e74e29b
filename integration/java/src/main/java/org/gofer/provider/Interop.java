package org.gofer.provider;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.gofer.interop.Address;
import org.gofer.interop.AllTypes;
import org.gofer.interop.Color;
import org.gofer.interop.Customer;
import org.gofer.interop.Employee;
import org.gofer.interop.InteropService;
import org.gofer.interop.Item;
import org.gofer.interop.Operation;
import org.gofer.interop.Order;
import org.gofer.interop.OrderException;
import org.gofer.interop.Page;
import org.gofer.interop.ProviderInfo;
import org.gofer.interop.RushOrder;
import org.gofer.interop.UnlistedException;

/** The service. Counting and slowing down is {@link Meter}'s. */
final class Interop implements InteropService {
    private final String name;
    private final Map<String, String> stored = new ConcurrentHashMap<>();
    private final AtomicLong failEvery = new AtomicLong();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "interop-timer");
        thread.setDaemon(true);
        return thread;
    });

    Interop(String name) {
        this.name = name;
    }

    @Override public boolean echoBoolean(boolean value) { return value; }
    @Override public byte echoByte(byte value) { return value; }
    @Override public short echoShort(short value) { return value; }
    @Override public char echoChar(char value) { return value; }
    @Override public int echoInt(int value) { return value; }
    @Override public long echoLong(long value) { return value; }
    @Override public float echoFloat(float value) { return value; }
    @Override public double echoDouble(double value) { return value; }

    @Override public Boolean echoBoxedBoolean(Boolean value) { return value; }
    @Override public Byte echoBoxedByte(Byte value) { return value; }
    @Override public Short echoBoxedShort(Short value) { return value; }
    @Override public Character echoBoxedChar(Character value) { return value; }
    @Override public Integer echoBoxedInt(Integer value) { return value; }
    @Override public Long echoBoxedLong(Long value) { return value; }
    @Override public Float echoBoxedFloat(Float value) { return value; }
    @Override public Double echoBoxedDouble(Double value) { return value; }

    @Override public String echoString(String value) { return value; }
    @Override public BigDecimal echoBigDecimal(BigDecimal value) { return value; }
    @Override public BigInteger echoBigInteger(BigInteger value) { return value; }
    @Override public Date echoDate(Date value) { return value; }
    @Override public LocalDateTime echoLocalDateTime(LocalDateTime value) { return value; }
    @Override public Object echoObject(Object value) { return value; }

    @Override public byte[] echoBytes(byte[] value) { return value; }
    @Override public boolean[] echoBooleans(boolean[] value) { return value; }
    @Override public short[] echoShorts(short[] value) { return value; }
    @Override public char[] echoChars(char[] value) { return value; }
    @Override public int[] echoInts(int[] value) { return value; }
    @Override public long[] echoLongs(long[] value) { return value; }
    @Override public float[] echoFloats(float[] value) { return value; }
    @Override public double[] echoDoubles(double[] value) { return value; }
    @Override public String[] echoStrings(String[] value) { return value; }
    @Override public Integer[] echoBoxedInts(Integer[] value) { return value; }
    @Override public int[][] echoMatrix(int[][] value) { return value; }
    @Override public Item[] echoItemArray(Item[] value) { return value; }

    @Override public Color echoColor(Color value) { return value; }
    @Override public Operation echoOperation(Operation value) { return value; }
    @Override public int apply(Operation operation, int a, int b) { return operation.apply(a, b); }

    @Override public Item echoItem(Item value) { return value; }
    @Override public AllTypes echoAllTypes(AllTypes value) { return value; }
    @Override public Order echoOrder(Order value) { return value; }
    @Override public Employee echoEmployee(Employee value) { return value; }

    @Override public List<String> echoStringList(List<String> value) { return value; }
    @Override public List<Long> echoLongList(List<Long> value) { return value; }
    @Override public List<Item> echoItemList(List<Item> value) { return value; }
    @Override public List<Order> echoOrderList(List<Order> value) { return value; }
    @Override public Set<String> echoStringSet(Set<String> value) { return value; }
    @Override public Set<Item> echoItemSet(Set<Item> value) { return value; }
    @Override public Map<String, String> echoStringMap(Map<String, String> value) { return value; }
    @Override public Map<Integer, Long> echoNumberMap(Map<Integer, Long> value) { return value; }
    @Override public Map<String, Item> echoItemMap(Map<String, Item> value) { return value; }
    @Override public Map<String, List<Item>> echoNestedMap(Map<String, List<Item>> value) { return value; }

    @Override public String overload() { return "overload()"; }
    @Override public String overload(int value) { return "overload(int)"; }
    @Override public String overload(long value) { return "overload(long)"; }
    @Override public String overload(Integer value) { return "overload(java.lang.Integer)"; }
    @Override public String overload(String value) { return "overload(java.lang.String)"; }
    @Override public String overload(Object value) { return "overload(java.lang.Object)"; }
    @Override public String overload(int[] value) { return "overload(int[])"; }
    @Override public String overload(List<String> value) { return "overload(java.util.List)"; }
    @Override public String overload(String text, int value) { return "overload(java.lang.String,int)"; }

    @Override public String describe(Object value) { return Description.of(value); }
    @Override public void nothing() { }
    @Override public void store(String key, String value) { stored.put(key, value); }
    @Override public String load(String key) { return stored.get(key); }
    @Override public String hello(String who) { return "hello " + who + " from " + name; }

    @Override
    public RushOrder rush(Order order, int hours) {
        RushOrder rush = new RushOrder();
        rush.setId(order.getId());
        rush.setTitle(order.getTitle());
        rush.setCreatedAt(order.getCreatedAt());
        rush.setCustomer(order.getCustomer());
        rush.setItems(order.getItems());
        rush.setLabels(order.getLabels());
        rush.setColor(order.getColor());
        rush.setTotal(order.getTotal());
        rush.setPaid(order.isPaid());
        rush.setHours(hours);
        return rush;
    }

    @Override
    public Employee selfManaged(String who) {
        Employee employee = new Employee();
        employee.setName(who);
        employee.setManager(employee);
        employee.setReports(new ArrayList<>(Collections.singletonList(employee)));
        return employee;
    }

    @Override
    public Page<Item> page(int number, int size) {
        List<Item> rows = new ArrayList<>();
        for (int i = number * size; i < Math.min(1000, (number + 1) * size); i++) {
            rows.add(item(i));
        }
        Page<Item> page = new Page<>();
        page.setNumber(number);
        page.setTotal(1000);
        page.setRows(rows);
        return page;
    }

    private static Item item(int i) {
        Item item = new Item();
        item.setSku("sku-" + i);
        item.setName("item " + i);
        item.setQuantity(i % 7 + 1);
        item.setPriceCents(100L * i + 99);
        item.setWeight(i / 4.0);
        item.setTaxed(i % 2 == 0);
        item.setWarehouse(i % 10);
        item.setRevision(1_000_000_000_000L + i);
        item.setDiscount(0.125);
        item.setNote(i % 3 == 0 ? null : "note");
        return item;
    }

    @Override
    public EnumMap<Color, Integer> stock() {
        EnumMap<Color, Integer> stock = new EnumMap<>(Color.class);
        stock.put(Color.RED, 1);
        stock.put(Color.BLUE, 3);
        return stock;
    }

    @Override
    public TreeSet<String> sorted(List<String> values) {
        return new TreeSet<>(values);
    }

    @Override
    public Optional<String> optional(String value) {
        return Optional.ofNullable(value);
    }

    @Override
    public String text(int length) {
        StringBuilder text = new StringBuilder(length + 1);
        while (text.length() < length) {
            text.append(text.length() % 20 == 18 ? "\uD83D\uDE80" : "ab");
        }
        text.setLength(length);
        return text.toString();
    }

    @Override
    public Order findOrder(long id) throws OrderException {
        if (id <= 0) {
            throw new OrderException("no order " + id, 404, id, new ArrayList<>(Arrays.asList("unknown", "never was")),
                    new IllegalArgumentException("id " + id));
        }
        Address address = new Address();
        address.setStreet("Main Street 1");
        address.setCity("Springfield");
        address.setZip(12345);
        Customer customer = new Customer();
        customer.setName("Ada");
        customer.setAddress(address);
        customer.setEmails(new String[] {"ada@example.com"});
        Order order = new Order();
        order.setId(id);
        order.setTitle("order " + id);
        order.setCreatedAt(new Date(1_700_000_000_000L));
        order.setCustomer(customer);
        order.setItems(new ArrayList<>(Arrays.asList(item(1), item(2))));
        order.setColor(Color.GREEN);
        order.setTotal(new BigDecimal("12.50"));
        return order;
    }

    @Override
    public String raise(String kind) {
        String message = "raised " + kind;
        switch (kind) {
            case "unlisted":
                throw new UnlistedException(message, 7);
            case "state":
                throw new IllegalStateException(message);
            case "caused":
                throw new IllegalStateException(message, new IOException("disk"));
            case "argument":
                throw new IllegalArgumentException(message);
            case "arithmetic":
                throw new ArithmeticException(message);
            case "null":
                throw new NullPointerException(message);
            case "unsupported":
                throw new UnsupportedOperationException(message);
            case "foreign":
                throw new io.netty.handler.codec.DecoderException(message);
            case "overflow":
                throw new StackOverflowError(message);
            case "error":
                throw new Error(message);
            default:
                return kind;
        }
    }

    @Override
    public CompletableFuture<String> future(String value, long delayMillis) {
        CompletableFuture<String> future = new CompletableFuture<>();
        timer.schedule(() -> future.complete(value), delayMillis, TimeUnit.MILLISECONDS);
        return future;
    }

    @Override
    public CompletableFuture<String> failedFuture(String message) {
        CompletableFuture<String> future = new CompletableFuture<>();
        timer.execute(() -> future.completeExceptionally(new IllegalStateException(message)));
        return future;
    }

    @Override
    public long slow(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return millis;
    }

    @Override
    public long failEvery(int n) {
        long call = failEvery.incrementAndGet();
        if (call % n == 0) {
            throw new IllegalStateException("call " + call + " fails, as every " + n + "th");
        }
        return call;
    }

    @Override
    public Map<String, String> attachments(Map<String, String> reply) {
        if (reply != null) {
            Flavor.reply(reply);
        }
        return Flavor.attachments();
    }

    @Override
    public ProviderInfo whoAmI() {
        throw new AssertionError("answered by Meter");
    }

    @Override
    public void reset() {
        stored.clear();
        failEvery.set(0);
    }
}
