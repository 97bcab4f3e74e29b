package url

// Interface is the service interface: parameter "interface", else the path.
func (u URL) Interface() string { return u.ParamOr("interface", u.Path()) }

// ServiceKey is "[group/]interface[:version]". As in Java a version "0.0.0" stays.
// It is "" when there is no interface.
func (u URL) ServiceKey() string {
	return serviceKey(u.Param("group"), u.Interface(), u.Param("version"))
}

// PathKey is the [URL.ServiceKey] with the path in place of the interface.
func (u URL) PathKey() string { return serviceKey(u.Param("group"), u.Path(), u.Param("version")) }

func serviceKey(group, name, version string) string {
	if name == "" {
		return ""
	}
	if group != "" {
		name = group + "/" + name
	}
	if version != "" {
		name += ":" + version
	}
	return name
}

// ColonKey is "interface:version:group", both colons always: the key of the
// rules of a service. It is "" when there is no interface.
func (u URL) ColonKey() string {
	name := u.Interface()
	if name == "" {
		return ""
	}
	return name + ":" + u.Param("version") + ":" + u.Param("group")
}

// ProtocolServiceKey is the [URL.ServiceKey] with ":protocol" after it; as in
// Dubbo 3.3 without it for "consumer", and as in Java ":null" for no protocol.
func (u URL) ProtocolServiceKey() string {
	key := u.ServiceKey()
	switch p := u.Protocol(); {
	case key == "" || p == "consumer":
		return key
	case p == "":
		return key + ":null"
	default:
		return key + ":" + p
	}
}
