package dev.weft.internal.blocking;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.Started;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * A name look-up that blocks no worker: in a fiber the JDK's own look-up, a native call, runs as a
 * blocking call on a helper thread. The JDK finds this provider at the first look-up, also in
 * programs without fibers, which pay a field read per look-up.
 *
 * <p>As in the JDK a look-up ignores interrupts, and so a cancel.
 */
public final class BlockingNames extends InetAddressResolverProvider {
  /** Called by the JDK. */
  public BlockingNames() {}

  @Override
  public InetAddressResolver get(Configuration configuration) {
    return new Resolver(configuration.builtinResolver());
  }

  @Override
  public String name() {
    return "Weft";
  }

  /** Calls the JDK's resolver, on a helper thread if the caller is a fiber. */
  record Resolver(InetAddressResolver original) implements InetAddressResolver {
    @Override
    public Stream<InetAddress> lookupByName(String host, LookupPolicy policy)
        throws UnknownHostException {
      return lookUp(() -> original.lookupByName(host, policy));
    }

    @Override
    public String lookupByAddress(byte[] address) throws UnknownHostException {
      return lookUp(() -> original.lookupByAddress(address));
    }

    private static <T> T lookUp(Callable<T> question) throws UnknownHostException {
      try {
        return Started.fibers && HookFamilies.names
            ? BlockingCall.runUninterrupted(question)
            : question.call();
      } catch (UnknownHostException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("a look-up throws no other checked exception", e);
      }
    }
  }
}
