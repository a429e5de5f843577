import { makeProgress } from "../../commands/output/progress.ts";
import { reportFailure } from "../../commands/output/report.ts";
import { ProvenderError } from "../../errors/index.ts";
import type { AdminCommand } from "../admin/socket.ts";
import { all } from "./all.ts";
import type { VerbName } from "./table.ts";
import type { OpenMirror, Verb } from "./verb.ts";

/** One command: its arguments, and where its output goes. */
export type Command = Pick<
  AdminCommand,
  "input" | "operator" | "columns" | "stdout" | "stderr" | "openFile" | "signal"
>;

/** Runs a verb with an open mirror. Returns the exit status; a failure is reported on standard error. */
export async function runVerb(
  name: VerbName,
  mirror: OpenMirror,
  { input, operator, columns, stdout, stderr, openFile, signal }: Command,
): Promise<number> {
  const output = {
    stdout: (text: string) => void stdout(text),
    stderr: (text: string) => void stderr(text),
  };
  const terminal = {
    isTTY: columns !== undefined,
    columns,
    write: output.stderr,
  };
  try {
    // The input was made by the same version of this program.
    const verb = all[name] as Verb<object>;
    return await verb(input, mirror, {
      ...output,
      ...{ operator, signal, openFile, print: stdout },
      makeProgress: () => makeProgress(terminal, () => performance.now()),
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
    return reportFailure(error, "json" in input && input.json === true, output);
  }
}

/** Runs a command of another process in the daemon. */
export async function runAdminCommand(
  mirror: OpenMirror,
  command: AdminCommand,
): Promise<number> {
  const { verb } = command;
  if (!Object.hasOwn(all, verb))
    throw new RangeError(`there is no verb ${verb}`);
  return runVerb(verb as VerbName, mirror, command);
}

export { openMirror } from "../commands/store.ts";
