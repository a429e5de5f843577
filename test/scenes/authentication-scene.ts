import { formatTicket } from "../../src/server/access/archive-ticket.ts";
import { bearer, issueToken } from "../client-token.ts";
import type { Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import {
  startMirror,
  type Answer,
  type GetOptions,
  type RunningMirror,
} from "../running-mirror.ts";
import { readRecord } from "../store/stores.ts";
import { awaitLine } from "./log-lines.ts";
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
export class AuthenticationScene {
  readonly registry: Registry;
  readonly mirror: RunningMirror;
  readonly release: Release;

  private constructor(
    registry: Registry,
    mirror: RunningMirror,
    release: Release,
  ) {
    this.registry = registry;
    this.mirror = mirror;
    this.release = release;
  }

  static async start(): Promise<AuthenticationScene> {
    const { registry, config } = await startOrigin();
    const platforms = ["linux_amd64", "darwin_arm64"];
    const more = { platforms, size: 30_000 };
    const release = await registry.publish({ version: "1.0.0", ...more });
    await registry.publish({ version: "2.0.0", ...more });
    await registry.publish({ type: "gadget", version: "1.0.0", ...more });
    const mirror = await startMirror({ config: { ...config, auth } });
    return new AuthenticationScene(registry, mirror, release);
  }

  withToken(path: string, options: GetOptions = {}): Promise<Answer> {
    return this.mirror.get(path, { ...bearer(ci.token), ...options });
  }

  /** The path of an archive as VERSION.json has it. */
  async signedPath(version: string, platform = "linux_amd64"): Promise<string> {
    const answer = await this.withToken(`${folder}${version}.json`);
    const { archives } = answer.json() as {
      archives: Record<string, { url: string }>;
    };
    return folder + (archives[platform]?.url ?? "");
  }

  /** Signed with the mirror's own key; `expires` in milliseconds since 1970. */
  forge(path: string, expires: number): string {
    const { directory } = this.mirror;
    const { keys } = readRecord(directory, ["secrets", "archive-urls"]) as {
      keys: { secret: string }[];
    };
    const secret = Buffer.from(keys[0]?.secret ?? "", "base64url");
    const ticket = formatTicket(secret, path, { expires, holder: "forged" });
    const slash = path.lastIndexOf("/");
    return `${path.slice(0, slash)}/${ticket}${path.slice(slash)}`;
  }

  async reload(changes: Readonly<Record<string, unknown>>): Promise<void> {
    const before = this.mirror.log.length;
    reconfigure(this.mirror, changes);
    const isDone = ({ msg }: { readonly msg?: unknown }) =>
      msg === "certificate loaded";
    await awaitLine(this.mirror, isDone, before);
  }
}
