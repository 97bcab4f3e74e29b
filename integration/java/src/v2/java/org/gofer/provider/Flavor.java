package org.gofer.provider;

import java.util.Map;
import java.util.TreeMap;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.rpc.RpcContext;

/** What 2.6 and 2.7 do differently from 3.x. */
final class Flavor {
    private Flavor() {
    }

    static void check(Options options, ApplicationConfig application) {
        for (String flag : new String[] {"register-mode", "bootstrap", "metadata-port"}) {
            if (options.text(flag) != null) {
                throw new IllegalArgumentException("--" + flag + " is for Dubbo 3.x");
            }
        }
    }

    static void bootstrap(ApplicationConfig application, RegistryConfig registry, ProtocolConfig protocol, ServiceConfig<?> service) {
        throw new IllegalStateException("refused by check");
    }

    static Map<String, String> attachments() {
        return new TreeMap<>(RpcContext.getContext().getAttachments());
    }

    static void reply(Map<String, String> attachments) {
        attachments.forEach(RpcContext.getServerContext()::setAttachment);
    }
}
