package dev.weft.bench.suite

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select

/**
 * The work of [ChannelBenchmark] and [SkynetBenchmark] with Kotlin's coroutines and channels, on as many threads as there are
 * cores.
 */
internal object KotlinChannels {
    @JvmStatic
    fun transfer(capacity: Int, values: Int) = run {
        val channel = Channel<Int>(capacity)
        launch { for (i in 0 until values) channel.send(63) }
        launch { for (i in 0 until values) channel.receive() }
    }

    @JvmStatic
    fun chain(capacity: Int, links: Int, values: Int) = run {
        val channels = Array(links) { Channel<Int>(capacity) }
        launch { for (i in 0 until values) channels[0].send(63) }
        for (link in 1 until links) {
            launch { for (i in 0 until values) channels[link].send(channels[link - 1].receive()) }
        }
        launch { for (i in 0 until values) channels[links - 1].receive() }
    }

    @JvmStatic
    fun parallel(capacity: Int, pairs: Int, values: Int) = run {
        for (pair in 0 until pairs) {
            val channel = Channel<Int>(capacity)
            launch { for (i in 0 until values) channel.send(91) }
            launch { for (i in 0 until values) channel.receive() }
        }
    }

    @JvmStatic
    fun select(clauses: Int, values: Int) = run {
        val channels = Array(clauses) { Channel<Int>() }
        for (channel in channels) {
            launch { for (i in 0 until values / clauses) channel.send(63) }
        }
        launch {
            if (clauses == 1) {
                for (i in 0 until values) select<Int> { channels[0].onReceive { it } }
            } else if (clauses == 2) {
                for (i in 0 until values) {
                    select<Int> {
                        channels[0].onReceive { it }
                        channels[1].onReceive { it }
                    }
                }
            } else {
                for (i in 0 until values) {
                    select<Int> {
                        channels[0].onReceive { it }
                        channels[1].onReceive { it }
                        channels[2].onReceive { it }
                        channels[3].onReceive { it }
                    }
                }
            }
        }
    }

    @JvmStatic
    fun skynet(leaves: Int): Long = runBlocking(Dispatchers.Default) {
        val result = Channel<Long>()
        launch { skynet(result, 0, leaves) }
        result.receive()
    }

    private suspend fun CoroutineScope.skynet(parent: Channel<Long>, number: Long, size: Int) {
        if (size == 1) {
            parent.send(number)
            return
        }
        val results = Channel<Long>()
        for (i in 0 until 10) {
            launch { skynet(results, number + i * (size / 10), size / 10) }
        }
        var sum = 0L
        for (i in 0 until 10) sum += results.receive()
        parent.send(sum)
    }

    private fun run(body: suspend CoroutineScope.() -> Unit) = runBlocking(Dispatchers.Default) { body() }
}
