import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { version } from '../base/package-info.ts';
import type { Labels, Registry } from './registry.ts';

/** Resolution of the event loop delay. A finer one would wake an idle process too often. */
const lagResolutionMs = 20;

/** Registers the metrics of this process. `role` is its role, such as `serve` or `engine`. */
export function watchProcess(registry: Registry, role: string): { close(): void } {
  const pointOf = (value: number, labels: Labels = {}) => [{ labels, value }];
  const build = { version, node: process.versions.node, role };
  const loop = watchEventLoop();
  registry.watch('gauge', { name: 'carrel.build_info', help: 'Version and role of the process; always 1.' }, () =>
    pointOf(1, build),
  );
  registry.watch(
    'gauge',
    { name: 'process.memory.usage', unit: 'By', prometheusName: 'process_resident_memory_bytes', help: 'Memory.' },
    () => pointOf(process.memoryUsage.rss()),
  );
  registry.watch('gauge', { name: 'v8js.memory.heap.used', unit: 'By', help: 'Memory of the JavaScript heap.' }, () =>
    pointOf(process.memoryUsage().heapUsed),
  );
  registry.watch(
    'counter',
    { name: 'process.cpu.time', unit: 's', prometheusName: 'process_cpu_seconds_total', help: 'Processor time.' },
    () => {
      const { user, system } = process.cpuUsage();
      return pointOf((user + system) / 1e6);
    },
  );
  registry.watch(
    'gauge',
    {
      name: 'process.start_time',
      unit: 's',
      prometheusName: 'process_start_time_seconds',
      help: 'Seconds since 1970.',
    },
    () => pointOf(performance.timeOrigin / 1000),
  );
  registry.watch(
    'gauge',
    { name: 'nodejs.eventloop.utilization', help: 'Share of time the event loop was busy.' },
    () => pointOf(loop.sample().utilization),
  );
  registry.watch('gauge', { name: 'nodejs.eventloop.delay', unit: 's', help: 'Event loop delay.' }, () =>
    Object.entries(loop.sample().lag).map(([percentile, value]) => ({ labels: { percentile }, value })),
  );
  return { close: loop.close };
}

/** How long measured values are reused, so that two readers at nearly the same time get the same values. */
const sampleMs = 5_000;

function watchEventLoop() {
  let monitor: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let sampledAt = Number.NEGATIVE_INFINITY;
  let previous: ReturnType<typeof performance.eventLoopUtilization> | undefined;
  let latest = { utilization: 0, lag: { '50': 0, '99': 0, '100': 0 } };
  return {
    sample(): typeof latest {
      if (performance.now() - sampledAt < sampleMs) return latest;
      sampledAt = performance.now();
      // Started on first use: the metrics of most processes are never read.
      if (monitor === undefined) {
        monitor = monitorEventLoopDelay({ resolution: lagResolutionMs });
        monitor.enable();
      }
      const { count } = monitor;
      const lagAt = (percentile: number): number =>
        count === 0 ? 0 : Math.max(0, (monitor?.percentile(percentile) ?? 0) / 1e6 - lagResolutionMs) / 1000;
      const now = performance.eventLoopUtilization();
      const { utilization } = previous ? performance.eventLoopUtilization(now, previous) : now;
      latest = { utilization, lag: { '50': lagAt(50), '99': lagAt(99), '100': lagAt(100) } };
      previous = now;
      monitor.reset();
      return latest;
    },
    close: () => void monitor?.disable(),
  };
}
