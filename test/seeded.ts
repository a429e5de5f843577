import fc from "fast-check";
import { effort } from "./effort.ts";

/** Tests of properties try the same values every time, and new ones with more effort; a failure names its seed. */
const usual = effort > 1 ? Date.now() % 2 ** 31 : 1;
fc.configureGlobal({ seed: Number(process.env.PROVENDER_SEED ?? usual) });

export default fc;
