/**
 * JMX beans of schedulers and helpers. {@code SchedulerBeans} registers the beans once the program
 * has an MBean server; a program without one loads no class of {@code java.management}.
 */
package dev.weft.internal.beans;
