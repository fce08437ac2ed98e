// A program that was written for Cloudflare Queues: their client, with another base URL.
import assert from "node:assert/strict";
import Cloudflare from "cloudflare";

const [server, apiToken] = process.argv.slice(2);
const baseURL = `${server}/compat/cloudflare/client/v4`;
const client = new Cloudflare({ apiToken, baseURL });
const account_id = "023e105f4ecef8ad9ca31a8372d0c353";
const queue = "parcel-queue";
const { messages } = client.queues;
const told = {};

const json = (message) => JSON.parse(Buffer.from(message.body, "base64").toString());

async function until(what, look) {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `it did not come about: ${what}`);
    await new Promise((again) => setTimeout(again, 50));
  }
}

// Queues are those of the settings; the dead letters of one have a name of their own.
const names = [];
for await (const one of client.queues.list({ account_id })) names.push(one.queue_name);
assert.deepEqual(names.sort(), ["bare", "parcel-dlq", "parcel-queue"]);
assert.equal((await client.queues.get(queue, { account_id })).queue_id, queue);

// Send: one, and many.
const sent = await messages.push(queue, { account_id, body: { n: 1 }, content_type: "json" });
assert.equal(sent.metadata.metrics.backlog_count, 1);
await messages.bulkPush(queue, {
  account_id,
  messages: [
    { body: "plain text", content_type: "text" },
    { body: Buffer.from([0, 255, 7]).toString("base64"), content_type: "bytes" },
    { body: { n: 4, late: true }, content_type: "json", delay_seconds: 3600 },
  ],
});

// Peek leaves everything where it is, and shows nothing that is delayed as gone.
const peeked = await messages.peek(queue, { account_id, batch_size: 10 });
assert.equal(peeked.messages.length, 4);
assert.deepEqual(json(peeked.messages[0]), { n: 1 });

// Pull: what is due, in order, each kind as it was sent.
const pulled = await messages.pull(queue, { account_id, batch_size: 10, visibility_timeout_ms: 60_000 });
assert.equal(pulled.message_backlog_count, 4);
assert.deepEqual(pulled.messages.map((one) => one.metadata["CF-Content-Type"]).sort(), ["bytes", "json", "text"]);
const of = (kind) => pulled.messages.find((one) => one.metadata["CF-Content-Type"] === kind);
assert.deepEqual(json(of("json")), { n: 1 });
assert.equal(of("text").body, "plain text");
assert.deepEqual([...Buffer.from(of("bytes").body, "base64")], [0, 255, 7]);
assert.ok(pulled.messages.every((one) => one.attempts === 1 && one.timestamp_ms > 1_700_000_000_000));
assert.equal((await messages.pull(queue, { account_id })).messages.length, 0, "they are leased");

// Acknowledge one with the declared outcome, one with another, and have one again at once.
const settled = await messages.ack(queue, {
  account_id,
  acks: [{ lease_id: of("json").lease_id }, { lease_id: of("bytes").lease_id, outcome: "lost" }],
  retries: [{ lease_id: of("text").lease_id, delay_seconds: 0 }],
});
assert.deepEqual(settled, { ackCount: 2, retryCount: 1, warnings: {} });
told.acknowledged = of("json").id;
told.odd = of("bytes").id;

// A retried message comes back as another attempt; an older client names its lease by the older word.
const older = { batch_size: 5, visibility_timeout: 1_000 };
const again = await until("the retried message", async () => {
  const path = `/accounts/${account_id}/queues/${queue}/messages/pull`;
  const { result } = await client.post(path, { body: older });
  return result.messages[0];
});
assert.deepEqual([again.body, again.attempts, again.id], ["plain text", 2, of("text").id]);

// A lease that was neither renewed nor settled ends by itself, and whoever had it is too late.
const back = await until("the message whose lease has ended", async () => {
  const { messages: found } = await messages.pull(queue, { account_id, visibility_timeout_ms: 60_000 });
  return found[0];
});
assert.equal(back.id, again.id);
const late = await messages.ack(queue, { account_id, acks: [{ lease_id: again.lease_id }, { lease_id: "nonsense" }] });
assert.equal(late.ackCount, 0);
assert.match(late.warnings[again.lease_id], /stale-lease/);
assert.match(late.warnings.nonsense, /no `lease_id`/);

// After its retries a message is a dead letter, which is looked at under the name of those.
let lease = back.lease_id;
for (let retries = 0; retries < 2; retries += 1) {
  await messages.ack(queue, { account_id, retries: [{ lease_id: lease, delay_seconds: 0 }] });
  const next = await until("another try", async () => (await messages.pull(queue, { account_id })).messages[0]);
  lease = next.lease_id;
}
assert.equal((await messages.ack(queue, { account_id, retries: [{ lease_id: lease }] })).retryCount, 1);
const dead = await messages.peek("parcel-dlq", { account_id });
assert.deepEqual([dead.messages[0].id, dead.messages[0].body], [back.id, "plain text"]);

// Purge what a peek showed, once.
const { messages: left } = await messages.peek(queue, { account_id });
assert.deepEqual(left.map(json), [{ n: 4, late: true }]);
told.purged = left[0].id;
const refs = [{ ref: left[0].ref }];
assert.deepEqual(await messages.purge(queue, { account_id, refs }), { errors: [], warnings: {} });
const twice = await messages.purge(queue, { account_id, refs: [...refs, { ref: "nonsense" }] });
assert.match(twice.warnings[left[0].ref], /not in the queue/);
assert.match(twice.errors[0].message, /no `ref`/);

// Purge all of them.
await messages.push(queue, { account_id, body: { n: 5 }, content_type: "json" });
assert.equal((await client.queues.getMetrics(queue, { account_id })).backlog_count, 1);
told.all_purged = (await messages.peek(queue, { account_id })).messages[0].id;
await client.queues.purge.start(queue, { account_id, delete_messages_permanently: true });
await until("the end of the purge", async () => {
  const status = await client.queues.purge.status(queue, { account_id });
  return status.completed === "true";
});
assert.equal((await messages.peek(queue, { account_id })).messages.length, 0);

// What is wrong is an error of the client's own kinds.
await assert.rejects(messages.push("nothing", { account_id, body: {}, content_type: "json" }), (error) => {
  assert.ok(error instanceof Cloudflare.NotFoundError);
  assert.match(error.errors[0].message, /no queue `nothing`/);
  return true;
});
const stranger = new Cloudflare({ apiToken: "mp_wrong", baseURL });
await assert.rejects(stranger.queues.messages.pull(queue, { account_id }), Cloudflare.AuthenticationError);

console.log(JSON.stringify(told));
