import { runServe } from "../../commands/operate/serve.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireDaemon } from "../../wiring/daemon.ts";
import { version } from "../version.ts";

export async function serve({
  config: file,
}: {
  readonly config?: string;
}): Promise<void> {
  const daemon = await wireDaemon(() => loadConfiguration({ file }), version);
  process.exitCode = await runServe(daemon, process);
}
