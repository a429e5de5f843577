import { bearer, issueToken } from "../client-token.ts";

/** A way in which a mirror is deployed, and the URL under which its clients know it. */
interface Deployment {
  readonly name: string;
  readonly config?: object;
  /** Headers that a proxy adds to requests. */
  readonly headers?: Readonly<Record<string, string>>;
  /** URL of the mirror for clients; its own by default. */
  readonly base?: string;
}

const ci = issueToken("ci");

export const deployments: readonly Deployment[] = [
  { name: "over TLS" },
  {
    name: "over TLS by another name",
    headers: { host: "localhost:9443" },
    base: "https://localhost:9443/",
  },
  {
    name: "with a publicUrl",
    config: { publicUrl: "https://mirror.example.com" },
    base: "https://mirror.example.com/",
  },
  {
    name: "with a publicUrl that has a path, behind a proxy",
    config: {
      publicUrl: "https://mirror.example.com/tools",
      listen: { port: 0, tls: "off", trustedProxies: ["127.0.0.1"] },
    },
    headers: { host: "127.0.0.1", "x-forwarded-for": "192.0.2.1" },
    base: "https://mirror.example.com/tools/",
  },
  {
    name: "below a path of a trusted proxy",
    config: { listen: { port: 0, tls: "off", trustedProxies: ["127.0.0.1"] } },
    headers: { host: "mirror.example.com", "x-forwarded-for": "192.0.2.1" },
    base: "https://mirror.example.com/tools/",
  },
  {
    name: "below a path of a proxy that is not known",
    headers: { host: "localhost", via: "1.1 proxy" },
    base: "https://localhost/tools/",
  },
  {
    name: "without TLS",
    config: { listen: { port: 0, tls: "off" } },
  },
  {
    name: "with tokens",
    config: { auth: { tokens: [ci.configured] } },
    headers: bearer(ci.token).headers,
  },
];
