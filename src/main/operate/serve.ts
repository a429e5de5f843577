import { runServe } from "../../commands/operate/serve.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireDaemon } from "../../wiring/daemon.ts";
import type { Flags } from "../flags.ts";
import { version } from "../version.ts";

export async function serve({ config: file }: Flags): Promise<number> {
  const daemon = await wireDaemon(() => loadConfiguration({ file }), version);
  return runServe(daemon, process);
}
