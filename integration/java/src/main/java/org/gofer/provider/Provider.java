package org.gofer.provider;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;
import org.apache.dubbo.common.Version;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.gofer.interop.InteropService;
import org.gofer.interop.ProviderInfo;

/**
 * Exports {@link InteropService}, prints one line {@code READY name=… dubbo=… port=…} and serves until SIGTERM.
 *
 * <p>Written for {@code org.apache.dubbo}; the build of 2.6 replaces the package by {@code com.alibaba.dubbo}.
 * What differs otherwise between 2.x and 3.x is in {@link Flavor}.
 */
public final class Provider {
    private Provider() {
    }

    public static void main(String[] args) throws Exception {
        try {
            start(Options.parse(args));
        } catch (IllegalArgumentException e) {
            fail(2, Options.usage(), e);
        } catch (Throwable e) {
            e.printStackTrace();
            fail(1, "", e);
        }
        new CountDownLatch(1).await();
    }

    /**
     * Ends with the first cause as the last line. Not by {@code exit}: Dubbo's shutdown hooks would bury it under
     * their log; and not by returning: Dubbo's threads are not daemons.
     */
    private static void fail(int status, String before, Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        System.err.println(before + "FAILED: " + root.getMessage());
        Runtime.getRuntime().halt(status);
    }

    private static void start(Options options) throws IOException {
        // Providers of one machine would clash on the port of the QoS console.
        System.setProperty("dubbo.application.qos.enable", "false");
        System.setProperty("dubbo.application.qos-enable", "false");
        if (options.text("shutdown-wait") != null) {
            System.setProperty("dubbo.service.shutdown.wait", options.number("shutdown-wait").toString());
        }

        ProviderInfo identity = new ProviderInfo();
        identity.setDubbo(Version.getVersion());
        identity.setName(options.text("name") != null ? options.text("name") : "interop-" + identity.getDubbo());
        identity.setPort(options.number("port") != 0 ? options.number("port") : freePort());

        ApplicationConfig application = new ApplicationConfig(options.text("app") != null ? options.text("app") : identity.getName());
        Flavor.check(options, application);
        export(options, application, registry(options), protocol(options, identity.getPort()), service(options, identity));
        System.out.println("READY name=" + identity.getName() + " dubbo=" + identity.getDubbo() + " port=" + identity.getPort());
    }

    private static void export(Options options, ApplicationConfig application, RegistryConfig registry,
            ProtocolConfig protocol, ServiceConfig<InteropService> service) {
        if (options.on("bootstrap")) {
            Flavor.bootstrap(application, registry, protocol, service);
            return;
        }
        service.setApplication(application);
        service.setRegistry(registry);
        service.setProtocol(protocol);
        service.export();
    }

    private static RegistryConfig registry(Options options) {
        if (options.text("zk").equals("none")) {
            return new RegistryConfig(RegistryConfig.NO_AVAILABLE);
        }
        RegistryConfig registry = new RegistryConfig("zookeeper://" + options.text("zk"));
        registry.setTimeout(30_000);
        if (options.text("registry-root") != null) {
            registry.setGroup(options.text("registry-root"));
        }
        if (options.text("registry-user") != null) {
            String[] pair = options.text("registry-user").split(":", 2);
            registry.setUsername(pair[0]);
            registry.setPassword(pair.length > 1 ? pair[1] : "");
        }
        put(options, "registry-param", "register-mode", "register-mode");
        if (options.on("simplified")) {
            options.pairs("registry-param").put("simplified", "true");
        }
        registry.setParameters(options.pairs("registry-param"));
        return registry;
    }

    private static ProtocolConfig protocol(Options options, int port) {
        ProtocolConfig protocol = new ProtocolConfig("dubbo", port);
        protocol.setHost(options.text("host"));
        protocol.setThreads(options.number("threads"));
        protocol.setPayload(options.number("payload"));
        protocol.setHeartbeat(options.number("heartbeat"));
        protocol.setAccepts(options.number("accepts"));
        protocol.setSerialization(options.text("serialization"));
        protocol.setParameters(options.pairs("protocol-param"));
        return protocol;
    }

    private static ServiceConfig<InteropService> service(Options options, ProviderInfo identity) {
        Meter meter = new Meter(new Interop(identity.getName()), identity, options);
        ServiceConfig<InteropService> service = new ServiceConfig<>();
        service.setInterface(InteropService.class);
        service.setRef((InteropService) Proxy.newProxyInstance(
                Provider.class.getClassLoader(), new Class<?>[] {InteropService.class}, meter));
        service.setGroup(options.text("group"));
        service.setVersion(options.text("version"));
        service.setToken(options.text("token"));
        service.setWeight(options.number("weight"));
        service.setActives(options.number("actives"));
        service.setExecutes(options.number("executes"));
        service.setLoadbalance(options.text("loadbalance"));
        service.setTimeout(options.number("timeout"));
        // No setters for these in every version.
        put(options, "param", "tag", "dubbo.tag");
        put(options, "param", "warmup", "warmup");
        service.setParameters(options.pairs("param"));
        return service;
    }

    private static void put(Options options, String pairs, String flag, String key) {
        if (options.text(flag) != null) {
            options.pairs(pairs).put(key, options.text(flag));
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
