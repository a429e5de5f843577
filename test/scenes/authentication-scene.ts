import { formatTicket } from "../../src/server/access/archive-ticket.ts";
import { bearer, issueToken } from "../client-token.ts";
import {
  startMirror,
  type GetOptions,
  type RunningMirror,
} from "../running-mirror.ts";
import { readRecord } from "../store/stores.ts";
import { awaitLine, type LogLine } from "./log-lines.ts";
import { reconfigure } from "./provider-requests.ts";
import { startOrigin } from "./world.ts";

export const host = "registry.terraform.io";
export const folder = `/providers/${host}/acme/widget/`;

export function fileOf(version: string, platform = "linux_amd64"): string {
  return `terraform-provider-widget_${version}_${platform}.zip`;
}

export const ci = issueToken("ci runner");
export const old = issueToken("old", new Date("2020-01-01"));
export const young = issueToken("young", new Date("2099-01-01"));
export const auth = {
  tokens: [ci, old, young].map(({ configured }) => configured),
};

/** A mirror that wants tokens, in front of a registry with widget 1.0.0 and 2.0.0 and gadget 1.0.0. */
export async function startAuthenticationScene() {
  const { registry, config } = await startOrigin();
  const platforms = ["linux_amd64", "darwin_arm64"];
  const more = { platforms, size: 30_000 };
  const release = await registry.publish({ version: "1.0.0", ...more });
  await registry.publish({ version: "2.0.0", ...more });
  await registry.publish({ type: "gadget", version: "1.0.0", ...more });
  const mirror = await startMirror({ config: { ...config, auth } });
  const withToken = (path: string, options: GetOptions = {}) =>
    mirror.get(path, { ...bearer(ci.token), ...options });
  return {
    ...{ registry, mirror, release, withToken },
    /** The path of an archive as VERSION.json has it. */
    signedPath: async (version: string, platform = "linux_amd64") => {
      const answer = await withToken(`${folder}${version}.json`);
      const { archives } = answer.json() as {
        archives: Record<string, { url: string }>;
      };
      return folder + (archives[platform]?.url ?? "");
    },
    /** Signed with the mirror's own key; `expires` in milliseconds since 1970. */
    forge: (path: string, expires: number) => {
      const key = ["secrets", "archive-urls"] as const;
      const found = readRecord(mirror.directory, key) as { secret: string };
      const secret = Buffer.from(found.secret, "base64url");
      const ticket = formatTicket(secret, path, { expires, holder: "forged" });
      const slash = path.lastIndexOf("/");
      return `${path.slice(0, slash)}/${ticket}${path.slice(slash)}`;
    },
    reload: (changes: object) => reload(mirror, changes),
  };
}

/** Gives the daemon another configuration, and waits until it has all of it. */
export async function reload(mirror: RunningMirror, changes: object) {
  const before = mirror.log.length;
  reconfigure(mirror, { ...changes });
  const isDone = ({ msg }: LogLine) => msg === "certificate loaded";
  await awaitLine(mirror, isDone, before);
}
