package org.gofer.interop;

public enum Color {
    RED, GREEN, BLUE
}
