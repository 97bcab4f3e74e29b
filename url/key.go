package url

import "strconv"

// The keys below are the names that Dubbo has for a service. All of them are ""
// when the URL has no interface (or, where that is used, no path).

// Interface is the service interface: parameter "interface", else the path.
func (u URL) Interface() string { return u.ParamOr("interface", u.Path()) }

// ServiceKey is "[group/]interface[:version]". As in Java a version "0.0.0" stays.
func (u URL) ServiceKey() string {
	return serviceKey(u.Param("group"), u.Interface(), u.Param("version"))
}

// PathKey is the [URL.ServiceKey] with the path in place of the interface.
func (u URL) PathKey() string { return serviceKey(u.Param("group"), u.Path(), u.Param("version")) }

// DisplayKey is "interface[:version]".
func (u URL) DisplayKey() string { return serviceKey("", u.Interface(), u.Param("version")) }

// ExporterKey is "[group/]path[:version]:port", under which a provider finds what
// it exports and which its error texts show. The versions "0.0.0" and "*" are none.
func (u URL) ExporterKey() string {
	version := u.Param("version")
	if version == "0.0.0" || version == "*" {
		version = ""
	}
	key := serviceKey(u.Param("group"), u.Path(), version)
	if key == "" {
		return ""
	}
	return key + ":" + strconv.Itoa(u.Port())
}

// ColonKey is "interface:version:group", both colons always: the key of the rules
// of a service.
func (u URL) ColonKey() string {
	name := u.Interface()
	if name == "" {
		return ""
	}
	return name + ":" + u.Param("version") + ":" + u.Param("group")
}

// CompatibleColonKey is "interface[:version][:group]", the form of Dubbo 3.
func (u URL) CompatibleColonKey() string {
	key := u.DisplayKey()
	if group := u.Param("group"); key != "" && group != "" {
		key += ":" + group
	}
	return key
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
