import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { failure } from "../errors/index.ts";

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly home: string;
}

/** Reads the surroundings of this process. A user without an entry in the password file, as in containers, and without $HOME has no home. */
export function readSurroundings(): Surroundings {
  let home = "/";
  try {
    home = homedir();
  } catch {
    // There is none.
  }
  return { env: process.env, cwd: process.cwd(), home };
}

/** $STATE_DIRECTORY (the first of systemd's list), else $XDG_CACHE_HOME/provender, else ~/.cache/provender. */
export function defaultStorageDirectory(from: Surroundings): string {
  const state = from.env.STATE_DIRECTORY?.split(":")[0] ?? "";
  if (state !== "") return resolve(from.cwd, state);
  const cache = from.env.XDG_CACHE_HOME ?? "";
  // A relative path is to be ignored: XDG Base Directory Specification, "Basics".
  if (isAbsolute(cache)) return join(cache, "provender");
  return resolve(from.cwd, from.home, ".cache", "provender");
}

/** Where programs are without a PATH. */
export const defaultSearchPath = "/usr/local/bin:/usr/bin:/bin";

/** HTTPS_PROXY and NO_PROXY, the upper-case form first, as the clients do. */
export function parseProxy(env: NodeJS.ProcessEnv) {
  const name = env.HTTPS_PROXY ? "HTTPS_PROXY" : "https_proxy";
  return {
    https: env[name] ? parseProxyUrl(name, env[name]) : undefined,
    no: [env.NO_PROXY, env.no_proxy].find(Boolean),
  };
}

/**
 * The token for the host of `url` in TF_TOKEN_HOSTNAME, with dots as _ and dashes as __, as the clients read it
 * (CLI configuration file, "Environment Variable Credentials").
 */
export function findHostToken(
  url: URL,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const prefix = "TF_TOKEN_";
  const name = Object.keys(env).find((key) => {
    if (!key.startsWith(prefix)) return false;
    const host = key.slice(prefix.length);
    const written = host.replaceAll("__", "-").replaceAll("_", ".");
    return URL.parse(`https://${written}/`)?.host === url.host;
  });
  return name === undefined ? undefined : env[name];
}

/** The login name of who runs a command, also behind sudo; "unknown" for a user without one, as in containers. */
export function findOperator(): string {
  if (process.env.SUDO_USER) return process.env.SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}

/** The service manager's socket and watchdog: sd_notify(3), sd_watchdog_enabled(3). */
export function parseNotify(env: NodeJS.ProcessEnv) {
  const watchdog = env.WATCHDOG_USEC ?? "";
  return {
    socket: env.NOTIFY_SOCKET === "" ? undefined : env.NOTIFY_SOCKET,
    watchdogMs: /^[1-9][0-9]{0,15}$/.test(watchdog)
      ? Number(watchdog) / 1000
      : undefined,
  };
}

/** The value is not shown: it may hold a password. */
function parseProxyUrl(name: string, text: string): URL {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw failure(
    "configuration",
    name,
    "this is not a proxy",
    "give a URL such as http://proxy.example.com:3128",
  );
}
