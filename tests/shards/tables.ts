import { importShard } from "./shard.ts";

await importShard("tables");
