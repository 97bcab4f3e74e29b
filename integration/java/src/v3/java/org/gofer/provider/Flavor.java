package org.gofer.provider;

import java.util.Map;
import java.util.TreeMap;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.rpc.RpcContext;

/** What 3.x does differently from 2.6 and 2.7. */
final class Flavor {
    private Flavor() {
    }

    static void check(Options options, ApplicationConfig application) {
        if (options.text("metadata-port") != null) {
            application.setMetadataServicePort(options.number("metadata-port"));
        }
    }

    static void bootstrap(ApplicationConfig application, RegistryConfig registry, ProtocolConfig protocol, ServiceConfig<?> service) {
        DubboBootstrap.getInstance().application(application).registry(registry).protocol(protocol).service(service).start();
    }

    static Map<String, String> attachments() {
        return new TreeMap<>(RpcContext.getServerAttachment().getAttachments());
    }

    static void reply(Map<String, String> attachments) {
        attachments.forEach((key, value) -> RpcContext.getServerResponseContext().setAttachment(key, value));
    }
}
