import { spawn } from "node:child_process";
import { once } from "node:events";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { findFreePort, untilListening } from "../acceptance/nginx.ts";
import { endingWithTests } from "../child-process.ts";
import { scratch } from "../running-mirror.ts";

/** A real object store that has never heard of conditions (npm's s3rver), with a bucket. */
export async function startS3rver(): Promise<{
  readonly settings: BucketSettings;
  stop(): Promise<void>;
}> {
  const port = await findFreePort();
  const [bucket, key] = ["ignoring", "S3RVER"];
  const child = spawn(
    ...endingWithTests("s3rver", [
      ...["--directory", scratch("s3rver"), "--configure-bucket", bucket],
      ...["--address", "127.0.0.1", "--port", String(port), "--silent"],
    ]),
    { stdio: "ignore" },
  );
  await untilListening(port, child);
  return {
    settings: {
      bucket,
      endpoint: new URL(`http://127.0.0.1:${port}/`),
      region: "us-east-1",
      prefix: "",
      pathStyle: true,
      ca: undefined,
      keys: { accessKeyId: key, secretAccessKey: key },
    },
    stop: async () => {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}
