// A browser, and what every scenario needs of it.
import { chromium } from 'playwright-core';
import readline from 'node:readline';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

export const base = process.argv[3];
export const token = process.argv[4];
export const folder = process.argv[5];

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
export const end = () => browser.close();

/** Fails with what was expected. */
export const check = (holds, what) => { if (!holds) throw new Error(what); };

/** A context whose pages may not say anything in the console, and ask nobody but the server. */
export const visit = async (options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const trouble = [];
  context.on('console', (message) => { if (message.type() === 'error' && !expected(message.text())) trouble.push(message.text()); });
  context.on('weberror', (error) => trouble.push(String(error.error())));
  context.on('request', (request) => { if (!request.url().startsWith(base) && !request.url().startsWith('data:')) trouble.push(`asks ${request.url()}`); });
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  return { context, page, fine: () => check(!trouble.length, `the browser complains: ${trouble.join('; ')}`) };
};

// What a browser says of an answer that a scenario asks for on purpose.
const expected = (text) => /status of (4\d\d|503)|ERR_CONNECTION|ERR_INCOMPLETE|Failed to fetch/.test(text);

export const signIn = async (page, secret = token) => {
  await page.goto(`${base}/console`);
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
};

/** Asks the API as an admin. */
export const api = async (method, path, body, secret = token) => {
  const answer = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${secret}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  check(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : {};
};

export const submit = async (ref, owner = 'acme', more = {}) =>
  (await api('POST', '/v1/pipelines/orders/submissions', { payload: { ref, owner, ...more } })).id;

/** Takes the task of one submission, and says what came of it. */
export const work = async (id, settle, body) => {
  for (;;) {
    const { tasks } = await api('POST', '/v1/tasks:claim', { worker: 'tester', tasks: ['orders.check'], max: 50, wait: '5s' });
    check(tasks.length, `nobody can claim ${id}`);
    for (const task of tasks.filter((task) => task.submission !== id)) await api('POST', '/v1/tasks:give-back', { tasks: [{ token: task.token }] });
    const mine = tasks.find((task) => task.submission === id);
    if (mine) return api('POST', `/v1/tasks:${settle}`, { tasks: [{ token: mine.token, ...body }] });
  }
};
export const finish = (id, outcome) => work(id, 'finish', { outcome });
export const fail = (id, code = 'broken') => work(id, 'fail', { error: { code, message: 'the scale is stuck', retryable: false } });

export const makeToken = async (subject, role, scope = {}) =>
  (await api('POST', '/v1/tokens', { subject, role, ...scope })).token;

/** Waits until something holds. */
export const until = async (holds, what) => {
  const over = Date.now() + 20000;
  while (!(await holds())) {
    check(Date.now() < over, `in vain: ${what}`);
    await new Promise((go) => setTimeout(go, 50));
  }
};

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
/** Has the test do something to the server, and waits until it is done. */
export const ask = async (what) => { console.log(`ask ${what}`); await lines.next(); };
