import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { Definition } from "./definition.ts";

/** What Prometheus' own libraries say of every process, as far as it is cheap. */
export const processDefinitions = {
  cpuSeconds: {
    type: "counter",
    name: "process_cpu_seconds_total",
    help: "Processor time of the process.",
  },
  processStarted: {
    type: "gauge",
    name: "process_start_time_seconds",
    help: "When the process started, in seconds since 1970.",
  },
  residentBytes: {
    type: "gauge",
    name: "process_resident_memory_bytes",
    help: "Memory that the process has.",
  },
  openFiles: {
    type: "gauge",
    name: "process_open_fds",
    help: "Open files and connections; NaN where the system does not tell.",
  },
  mostFiles: {
    type: "gauge",
    name: "process_max_fds",
    help: "Files and connections that the process may have open; NaN where the system does not tell.",
  },
  heapUsed: {
    type: "gauge",
    name: "nodejs_heap_size_used_bytes",
    help: "Heap in use.",
  },
  heapTotal: {
    type: "gauge",
    name: "nodejs_heap_size_total_bytes",
    help: "Heap that is reserved.",
  },
  externalBytes: {
    type: "gauge",
    name: "nodejs_external_memory_bytes",
    help: "Memory of buffers outside of the heap.",
  },
  loopLag: {
    type: "gauge",
    name: "nodejs_eventloop_lag_p99_seconds",
    help: "The 99th percentile of how late timers were since the exposition before.",
  },
  loopUtilization: {
    type: "gauge",
    name: "nodejs_eventloop_utilization_ratio",
    help: "How much of the time since the start the event loop was busy, from 0 to 1.",
  },
} as const satisfies Readonly<Record<string, Definition>>;

type ProcessReaders = Readonly<
  Record<keyof typeof processDefinitions, () => number>
>;

/** Milliseconds between looks at how late timers are. */
const resolution = 20;

/** Asked at each exposition. */
export function readProcess(startedAt: Date): ProcessReaders {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  return {
    cpuSeconds: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
    processStarted: () => startedAt.getTime() / 1000,
    residentBytes: () => process.memoryUsage.rss(),
    openFiles: () => orNaN(() => readdirSync("/proc/self/fd").length),
    mostFiles: () =>
      orNaN(() => {
        const limits = readFileSync("/proc/self/limits", "utf8");
        return Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
      }),
    heapUsed: () => process.memoryUsage().heapUsed,
    heapTotal: () => process.memoryUsage().heapTotal,
    externalBytes: () => process.memoryUsage().external,
    loopLag: () => {
      const late = Math.max(0, delay.percentile(99) / 1e9 - resolution / 1e3);
      delay.reset();
      return late;
    },
    loopUtilization: () => performance.eventLoopUtilization().utilization,
  };
}

/** Only Linux has /proc. */
function orNaN(read: () => number): number {
  try {
    return read();
  } catch {
    return NaN;
  }
}
