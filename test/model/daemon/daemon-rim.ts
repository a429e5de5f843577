import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { writeConfiguration } from "../../running-mirror.ts";
import { runCommand, type CommandRun } from "../../running-command.ts";
import { Violation } from "../oracle/violation.ts";
import type { Answer } from "../world/answers.ts";
import type { Imported } from "../world/bundle.ts";
import type { ReleaseName } from "../world/documents.ts";
import type { CrashPoint } from "../world/life.ts";
import type { Machine, RaisedAlarm } from "../world/machine.ts";
import type { Ask } from "../world/mirror-process.ts";
import type { Offer, Registry } from "../world/registry.ts";
import type { Burst, PendingRow, Ran, Rim } from "../world/rim.ts";
import type { Settings } from "../world/settings.ts";
import {
  AskingCommands,
  isKilled,
  readFailed,
  readPrinted,
  type Run,
} from "./commands.ts";
import { askFace } from "./faces.ts";
import { writeOffers } from "./forged-bundle.ts";
import { awaitLog, hasDied, KeptDaemon, type LogLine } from "./kept-daemon.ts";
import { openSite, type Site } from "./site.ts";
import { SteppedClock } from "./stepped-clock.ts";

/** Real daemons and commands, over files or a bucket, with a registry over TLS. */
export class DaemonRim implements Rim {
  readonly machine: Machine;
  readonly disk = undefined;
  readonly commandsEvery = 5;
  hasCrashed = false;
  onStart: () => void = () => undefined;
  readonly #site: Site;
  readonly #daemons: readonly KeptDaemon[];
  readonly #asking = new AskingCommands();
  /** Log lines of commands. */
  readonly #lines: LogLine[] = [];
  readonly #configFile: string;
  readonly #commandDeath: string;
  #settings: Settings;

  private constructor(
    site: Site,
    registry: Registry,
    settings: Settings,
    count: number,
  ) {
    this.#site = site;
    this.#settings = settings;
    this.#configFile = join(site.folder, "commands.yaml");
    this.#commandDeath = join(site.folder, "death-command");
    const onStart = () => this.onStart();
    const onDeath = () => void (this.hasCrashed = true);
    this.#daemons = Array.from(
      { length: count },
      (_, index) => new KeptDaemon(site, index, { onStart, onDeath }),
    );
    const { outlast, decided } = settings.times;
    const clock = new SteppedClock(site.clockFile, {
      longest: Math.max(outlast, decided),
      isBounded: settings.shared,
    });
    const listAlarms = () => this.#listAlarms();
    this.machine = {
      ...{ registry, clock },
      get alarms() {
        return listAlarms();
      },
    };
    this.#writeConfig();
  }

  static async open(
    registry: Registry,
    settings: Settings,
    count: number,
    place: "directory" | "bucket",
  ): Promise<DaemonRim> {
    const site = await openSite(registry, place);
    return new DaemonRim(site, registry, settings, count);
  }

  get size(): number {
    return this.#daemons.length;
  }

  async ask(index: number, asked: Ask): Promise<Answer> {
    if (asked.face === "recall") return this.#asking.ask(this.#run, asked);
    const daemon = this.#daemon(index);
    const mirror = await daemon.find(this.#settings);
    try {
      const answer = await askFace(mirror, asked);
      if (answer.kind === "packages") await awaitLog(mirror);
      return answer;
    } catch (error) {
      if (error instanceof Violation) throw error;
      if (!(await hasDied(mirror)))
        throw new Violation(0, `a connection broke: ${String(error)}`);
      daemon.bury(mirror);
      return { kind: "dead" };
    }
  }

  async askAtOnce({ asks, pace }: Burst, change: () => void) {
    for (const { process } of asks)
      await this.#daemon(process).find(this.#settings);
    const all = Promise.all(
      asks.map((asked) => this.ask(asked.process, asked)),
    );
    all.catch(() => undefined);
    await delay(pace % 20);
    change();
    return all;
  }

  async runTrust(args: readonly string[]): Promise<Ran> {
    const { keys } = this.#site;
    const words = args.map((one) => keys.asReal(one));
    const ran = await this.#run("trust", ...words);
    const stdout = keys.asToy(ran.stdout);
    const isDone = ran.status !== null && stdout !== "";
    return { answer: isDone ? { kind: "done" } : readFailed(ran), stdout };
  }

  async listPending(name: ReleaseName): Promise<readonly PendingRow[]> {
    const ran = await this.#run("trust", "list", "--json");
    const printed = readPrinted(ran) as TrustList | undefined;
    return printed === undefined ? [] : readPending(printed, name);
  }

  async importOffers(_: number, offers: readonly Offer[]): Promise<Imported> {
    const file = await writeOffers(offers, this.#site.keys);
    const ran = await this.#run("import", file);
    const { stderr } = ran;
    const names = stderr.matchAll(/^(\S+) (\S+): \d+ archives /gm);
    const taken = [...names].map(([, , version = ""]) => version);
    if (isKilled(ran)) return { taken, answer: { kind: "dead" } };
    if (!/releases refused$/m.test(stderr))
      throw new Violation(0, `an import failed: ${stderr}`);
    return { taken, answer: { kind: "versions", versions: taken } };
  }

  restart(index: number): Promise<void> {
    return this.#daemon(index).stop();
  }

  crash(index: number, point: CrashPoint): void {
    const { writes, when } = point;
    const daemon = this.#daemons[index];
    if (daemon !== undefined) daemon.crashAt(point);
    else writeFileSync(this.#commandDeath, JSON.stringify({ writes, when }));
  }

  async configure(
    change: Partial<Settings>,
    settings: Settings,
  ): Promise<void> {
    this.#settings = settings;
    this.#writeConfig();
    for (const daemon of this.#daemons)
      await (change.profile === undefined
        ? daemon.reload(settings)
        : daemon.stop());
  }

  async close(): Promise<void> {
    for (const daemon of this.#daemons) await daemon.kill();
    await this.#site.close();
  }

  /** Runs a command of provender beside the daemons; notes what it has people hear of. */
  readonly #run: Run = async (...args): Promise<CommandRun> => {
    const ran = await runCommand([...args, "--config", this.#configFile], {
      env: { ...this.#site.env, PROVENDER_MODEL_DEATH: this.#commandDeath },
    });
    for (const line of ran.stderr.split("\n"))
      if (line.startsWith("{")) this.#lines.push(JSON.parse(line) as LogLine);
    if (isKilled(ran)) this.hasCrashed = true;
    return ran;
  };

  #daemon(index: number): KeptDaemon {
    const daemon = this.#daemons[index % this.size];
    if (daemon === undefined) throw new RangeError(`no process ${index}`);
    return daemon;
  }

  #writeConfig(): void {
    const { directory } = this.#daemon(0);
    const config = this.#site.configure(directory, this.#settings);
    writeConfiguration(this.#configFile, config);
  }

  #listAlarms(): readonly RaisedAlarm[] {
    const logs = this.#daemons.flatMap((daemon) => daemon.logs.flat());
    return [...logs, ...this.#lines].flatMap((line) => {
      const { alarm } = line;
      if (typeof alarm !== "string") return [];
      const text = this.#site.keys.asToy(JSON.stringify(line));
      return [{ kind: alarm, facts: JSON.parse(text) as LogLine }];
    });
  }
}

interface TrustList {
  readonly namespaces: readonly {
    readonly candidates: readonly (ReleaseName & {
      readonly sha256sums: string;
      readonly command: string | null;
    })[];
  }[];
}

function readPending(
  { namespaces }: TrustList,
  { type, version }: ReleaseName,
): readonly PendingRow[] {
  return namespaces
    .flatMap(({ candidates }) => candidates)
    .filter((one) => one.type === type && one.version === version)
    .map((one) => ({ ...one, command: one.command ?? undefined }));
}
