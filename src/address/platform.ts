import { failure } from "../errors/index.ts";

/** An operating system and an architecture in Go's words, such as linux_amd64. */
export interface Platform {
  readonly os: string;
  readonly arch: string;
}

const word = /^[a-z0-9]{1,32}$/;

/** `OS_ARCH`. */
export function parsePlatform(text: string): Platform {
  const platform = findPlatform(text);
  if (platform === undefined)
    throw failure(
      "malformed-address",
      "platform",
      text,
      "OS_ARCH such as linux_amd64",
    );
  return platform;
}

export function findPlatform(text: string): Platform | undefined {
  const [os = "", arch = "", ...rest] = text.split("_", 3);
  const isPlatform = word.test(os) && word.test(arch) && rest.length === 0;
  return isPlatform ? { os, arch } : undefined;
}

export function formatPlatform(platform: Platform): string {
  return `${platform.os}_${platform.arch}`;
}

const systems: Readonly<Record<string, string>> = { win32: "windows" };
const architectures: Readonly<Record<string, string>> = {
  x64: "amd64",
  ia32: "386",
};

/** The platform of this machine, in Go's words; what clients take when none is named. */
export function machinePlatform({
  platform,
  arch,
}: Pick<NodeJS.Process, "platform" | "arch">): Platform {
  const os = systems[platform] ?? platform;
  return parsePlatform(`${os}_${architectures[arch] ?? arch}`);
}
