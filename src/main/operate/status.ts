import { readFileSync } from "node:fs";
import { type IncomingMessage, request as requestInClear } from "node:http";
import { request } from "node:https";
import { isIP, isIPv6 } from "node:net";
import { z } from "zod";
import {
  findNeeds,
  notRunning,
  printStatus,
  readFigures,
} from "../../commands/operate/status.ts";
import type { Output } from "../../commands/output/report.ts";
import { type Configuration, loadUsable } from "../../config/load.ts";
import { isEveryAddress } from "../../server/tls/certificate-source.ts";
import { layOutStore } from "../../store/layout.ts";
import { actAsOwner } from "../../store/storage-owner.ts";
import { parseSamples } from "../../telemetry/samples.ts";
import type { Flags } from "../flags.ts";
import { readLocalAuthority } from "../mirror-access.ts";

/** What a daemon leaves in its storage directory while it runs. */
const announced = z.object({
  pid: z.int(),
  url: z.url(),
  token: z.string(),
});

const readyAnswer = z.object({ status: z.literal("ready") });

/** Characters of an answer; that of a mirror of many origins has some hundred thousand. */
const largestAnswer = 16 * 1024 * 1024;
/** Milliseconds that the daemon has for one answer. */
const patience = 8_000;

/** `provender status`: asks the daemon of the storage directory for `/readyz` and `/metrics`. */
export async function status(
  { config, json = false }: Flags,
  { stdout }: Output,
): Promise<number> {
  const { configuration, problem } = loadUsable({ file: config });
  const { directory, minFree } = configuration.storage;
  const layout = layOutStore(directory);
  actAsOwner(layout);
  const place = {
    directory,
    ...(!problem && { policyMode: configuration.policy.mode }),
  };
  const absent = `No daemon works on ${directory}: start it with "provender serve" or its service.`;
  const found = readAnnounced(layout.daemon);
  if (found === undefined && problem !== undefined) throw problem;
  if (found === undefined)
    return printStatus(place, notRunning(absent), json, stdout);
  const ask = (path: string) => askDaemon(configuration, found, path);
  try {
    const readiness = await ask("/readyz");
    const samples = parseSamples(await ask("/metrics"));
    const ready = parse(readyAnswer, readiness) !== undefined;
    const shown = {
      ...{ running: true, ready },
      problems: ready ? [] : problemsIn(readiness),
      needs: findNeeds(samples, minFree, new Date(), problem !== undefined),
      figures: readFigures(samples),
    };
    const { url, pid } = found;
    return printStatus({ ...place, url, pid }, shown, json, stdout);
  } catch (error) {
    if (problem !== undefined) throw problem;
    const { code, message } = error as NodeJS.ErrnoException;
    // A daemon that was killed leaves its announcement.
    const said =
      code === "ECONNREFUSED"
        ? absent
        : `The daemon at ${found.url}, process ${found.pid}, does not answer (${message}): look at its log.`;
    return printStatus(place, notRunning(said), json, stdout);
  }
}

function readAnnounced(path: string): z.infer<typeof announced> | undefined {
  try {
    return announced.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

/** Asks on this machine, whatever clients find behind the daemon's name. */
async function askDaemon(
  configuration: Configuration,
  { url: clients, token }: z.infer<typeof announced>,
  path: string,
): Promise<string> {
  const { host: address } = configuration.listen;
  const url = new URL(path, clients);
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const local = isIPv6(address) ? "::1" : "127.0.0.1";
  const host = isEveryAddress(address) ? local : name;
  const options = {
    ...{ host, port: url.port, path },
    headers: { host: url.host, authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(patience),
  };
  const authority = readLocalAuthority(configuration);
  const asked =
    authority === undefined
      ? requestInClear(options)
      : request({
          ...options,
          servername: isIP(name) > 0 ? "" : name,
          // What is configured here proves the daemon, under whatever names clients know it.
          ca: [authority],
          allowPartialTrustChain: true,
          checkServerIdentity: () => undefined,
        });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  asked.once("response", resolve).once("error", reject).end();
  let said = "";
  for await (const piece of (await promise).setEncoding("utf8")) {
    said += String(piece);
    if (said.length > largestAnswer) throw new Error("its answer is too long");
  }
  return said;
}

function problemsIn(body: string): readonly string[] {
  const refused = z.object({ errors: z.array(z.string()) });
  return parse(refused, body)?.errors ?? [body.slice(0, 200)];
}

/** Undefined for a text in another form. */
function parse<T>(shape: z.ZodType<T>, text: string): T | undefined {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
