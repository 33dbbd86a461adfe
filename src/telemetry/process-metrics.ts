import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { version } from '../base/package-info.ts';
import type { Labels, Registry } from './registry.ts';

/** Milliseconds. Less would wake an idle process more often than it is worth. */
const lagResolutionMs = 20;

/** Facts of the process. `role` is what it serves. */
export function watchProcess(registry: Registry, role: string): { close(): void } {
  const one = (value: number, labels: Labels = {}) => [{ labels, value }];
  const build = { version, node: process.versions.node, role };
  // Started by the first who looks: most processes are never asked.
  let lag: ReturnType<typeof monitorEventLoopDelay> | undefined;
  const lagAt = (percentile: number): number => {
    if (lag === undefined) {
      lag = monitorEventLoopDelay({ resolution: lagResolutionMs });
      lag.enable();
    }
    return lag.count === 0 ? 0 : Math.max(0, lag.percentile(percentile) / 1e6 - lagResolutionMs) / 1000;
  };
  registry.watch('gauge', { name: 'carrel.build_info', help: 'What is running; always 1.' }, () => one(1, build));
  registry.watch(
    'gauge',
    { name: 'process.memory.usage', unit: 'By', prometheusName: 'process_resident_memory_bytes', help: 'Memory.' },
    () => one(process.memoryUsage.rss()),
  );
  registry.watch('gauge', { name: 'v8js.memory.heap.used', unit: 'By', help: "Of JavaScript's own memory." }, () =>
    one(process.memoryUsage().heapUsed),
  );
  registry.watch(
    'counter',
    { name: 'process.cpu.time', unit: 's', prometheusName: 'process_cpu_seconds_total', help: 'Processor time.' },
    () => {
      const { user, system } = process.cpuUsage();
      return one((user + system) / 1e6);
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
    () => one(performance.timeOrigin / 1000),
  );
  registry.watch('gauge', { name: 'nodejs.eventloop.utilization', help: 'Share of the time that it was busy.' }, () =>
    one(performance.eventLoopUtilization().utilization),
  );
  registry.watch(
    'gauge',
    { name: 'nodejs.eventloop.delay', unit: 's', help: 'How late the event loop was, since the first who asked.' },
    () => ['50', '99', '100'].map((share) => ({ labels: { percentile: share }, value: lagAt(Number(share)) })),
  );
  return { close: () => lag?.disable() };
}
