import { Progress } from "../../commands/output/progress.ts";
import { reportFailure } from "../../commands/output/report.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { AdminCommand } from "../admin/socket.ts";
import { all } from "./all.ts";
import { namesPaths, type VerbName } from "./table.ts";
import type { OpenMirror, Verb } from "./verb.ts";

/** One command: its arguments, and where its output goes. */
export type Command = Omit<AdminCommand, "verb">;

/** Runs a verb with an open mirror. Returns the exit status; a failure is reported on standard error. */
export async function runVerb(
  name: string,
  mirror: OpenMirror,
  { input, operator, columns, stdout, stderr, openFile, ...asked }: Command,
): Promise<number> {
  const { signal, isDaemonUser } = asked;
  const output = {
    stdout: (text: string) => void stdout(text),
    stderr: (text: string) => void stderr(text),
  };
  const json = "json" in input && input.json === true;
  try {
    if (!isDaemonUser && namesPaths(name, input))
      throw failure("not-its-user", name, operator);
    return await findVerb(name)(input, mirror, {
      ...output,
      ...{ operator, signal, openFile, print: stdout },
      makeProgress: () =>
        new Progress({
          columns: json ? undefined : columns,
          write: json ? () => undefined : output.stderr,
        }),
    });
  } catch (error) {
    if (signal.aborted) {
      output.stderr("Interrupted: run the same command again.\n");
      return 1;
    }
    if (!(error instanceof ProvenderError) && mirror.daemon !== undefined)
      mirror.telemetry.alarms.raise("unexpected-error", {
        where: name,
        err: error,
      });
    return reportFailure(error, json, output);
  }
}

function findVerb(name: string): Verb {
  if (Object.hasOwn(all, name)) return all[name as VerbName];
  const verbs = Object.keys(all).join(", ");
  throw failure("arguments", name, "it is no verb", `give one of ${verbs}`);
}

export { openMirror } from "../commands/store.ts";
