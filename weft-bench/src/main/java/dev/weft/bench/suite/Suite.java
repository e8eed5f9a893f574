package dev.weft.bench.suite;

import dev.weft.bench.echo.EchoBenchmark;
import dev.weft.bench.echo.HookEchoBenchmark;
import dev.weft.bench.echo.HttpBenchmark;
import dev.weft.bench.echo.MixedBenchmark;
import dev.weft.bench.echo.WatchedBenchmark;
import dev.weft.bench.frameworks.FrameworksBenchmark;
import dev.weft.bench.http.HttpPeersBenchmark;
import dev.weft.bench.model.Comparison;
import java.util.ArrayList;
import java.util.List;

/** All comparisons. A new one is a class beside this one and a line here. */
public final class Suite {
  private Suite() {}

  /** Returns them in the order in which they run. */
  public static List<Comparison> all() {
    List<Comparison> all = new ArrayList<>(ofWeft());
    all.addAll(FrameworksBenchmark.comparisons());
    return List.copyOf(all);
  }

  private static List<Comparison> ofWeft() {
    return List.of(
        SwitchBenchmark.comparison(),
        CreateBenchmark.comparison(),
        GeneratorBenchmark.comparison(),
        ParkedMemoryBenchmark.comparison(),
        YieldBenchmark.comparison(),
        PingPongBenchmark.onOneThread(),
        PingPongBenchmark.acrossThreads(),
        SpawnBenchmark.comparison(),
        MutexBenchmark.uncontended(),
        MutexBenchmark.onOneThread(),
        MutexBenchmark.onTwoThreads(),
        MutexBenchmark.shortOnTwoThreads(),
        SharedLockBenchmark.readersAndWriters(),
        SharedLockBenchmark.permits(),
        SleepBenchmark.comparison(),
        TimersBenchmark.comparison(),
        TimerQueueBenchmark.comparison(),
        TimerLatenessBenchmark.comparison(),
        WakeUpBenchmark.comparison(),
        WakeWhileBusyBenchmark.comparison(),
        PinnedLookBenchmark.comparison(),
        IdleBenchmark.comparison(),
        FiberMemoryBenchmark.comparison(),
        FiberMemoryBenchmark.atChannel(),
        MillionLookBenchmark.comparison(),
        ChannelBenchmark.rendezvous(),
        ChannelBenchmark.buffered(),
        ChannelBenchmark.chain(),
        ChannelBenchmark.parallel(),
        SelectBenchmark.one(),
        SelectBenchmark.two(),
        SelectBenchmark.four(),
        SkynetBenchmark.comparison(),
        SieveBenchmark.comparison(),
        StartUpBenchmark.comparison(),
        EchoBenchmark.comparison(),
        EchoBenchmark.sizes(),
        EchoBenchmark.threads(),
        EchoBenchmark.accept(),
        EchoBenchmark.idle(),
        MixedBenchmark.comparison(),
        MixedBenchmark.echoesAlone(),
        WatchedBenchmark.comparison(),
        HttpBenchmark.comparison(),
        HttpPeersBenchmark.plain(),
        HttpPeersBenchmark.plainOnTwo(),
        HttpPeersBenchmark.sleep(),
        HttpPeersBenchmark.sleepOnTwo(),
        HttpPeersBenchmark.roundTrip(),
        HttpPeersBenchmark.roundTripOnTwo(),
        HttpPeersBenchmark.slowClients(),
        HookEchoBenchmark.comparison(),
        HookEchoBenchmark.threads(),
        HookQueueBenchmark.comparison(),
        SleepBenchmark.hooked(),
        HookRedisBenchmark.comparison(),
        JschBenchmark.comparison(),
        HookOutsideBenchmark.comparison());
  }
}
