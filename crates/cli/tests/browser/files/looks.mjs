// How pages look, and what they must never do.
import fs from 'node:fs';
import path from 'node:path';
import { api, base, check, fail, finish, folder, signIn, submit, visit } from './browser.mjs';

const AXE = fs.readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
export const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
};
const WEIGHT_MAX = 150 * 1024;

/** Something on every page. */
const everything = async () => {
  const open = await submit('look-open');
  const review = await submit('look-review');
  await finish(review, 'fine');
  const odd = await submit('look-odd');
  await finish(odd, 'odd');
  const dead = await submit('look-dead');
  await fail(dead);
  await api('POST', '/v1/holds', { submission: open, reason: 'the scale is being looked at' });
  const operation = await api('POST', '/v1/operations', { filter: { pipeline: 'orders', status: 'dead' }, action: 'redrive', dry_run: true });
  const wish = await fetch(`${base}/public/wishes`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ payload: { wish: 'a kite', count: 1, rules: true } }),
  });
  const { receipt } = await wish.json();
  return {
    public: '/public/wishes', 'public-receipt': `/public/wishes/receipts/${receipt}`,
    overview: '/console', submissions: '/console/submissions', filtered: '/console/submissions?q=pipeline:orders%20state:CHECKING',
    nonsense: '/console/submissions?q=colour:red', 'submission-held': `/console/submissions/${open}`, 'submission-review': `/console/submissions/${review}`,
    'submission-odd': `/console/submissions/${odd}`, 'submission-dead': `/console/submissions/${dead}`, missing: '/console/submissions/none',
    pipelines: '/console/pipelines', pipeline: '/console/pipelines/orders', levels: '/console/pipelines/orders?tab=levels',
    definition: '/console/pipelines/orders?tab=definition', versions: '/console/pipelines/orders?tab=versions', lanes: '/console/pipelines/orders?tab=lanes', limits: '/console/pipelines/orders?tab=limits',
    'pipeline-holds': '/console/pipelines/orders?tab=holds', parameters: '/console/pipelines/orders?tab=parameters', reviews: '/console/reviews',
    dead: '/console/dead', investigations: '/console/investigations', overdue: '/console/overdue', holds: '/console/holds', workers: '/console/workers',
    deliveries: '/console/deliveries', operations: '/console/operations', operation: `/console/operations/${operation.id}`, tail: '/console/tail',
    audit: '/console/audit', tokens: '/console/tokens', servers: '/console/servers', settings: '/console/settings',
  };
};

export const every_page = async () => {
  const pages = await everything();
  fs.mkdirSync(folder, { recursive: true });
  for (const [look, options] of Object.entries(LOOKS)) {
    const { page, fine } = await visit({ ...options, bypassCSP: false });
    let bytes = 0;
    page.on('response', async (answer) => { bytes += Number(answer.headers()['content-length'] ?? 0); });
    await page.goto(`${base}/console/sign-in`);
    await inspect(page, 'sign-in', look);
    await signIn(page);
    for (const [name, address] of Object.entries(pages)) {
      bytes = 0;
      await page.goto(base + address, { waitUntil: 'load' });
      await inspect(page, name, look);
      if (bytes >= WEIGHT_MAX) wrong.push(`${name} weighs ${bytes} bytes`);
    }
    fine();
  }
  check(!wrong.length, wrong.join('\n'));
};

export const wrong = [];
export const inspect = async (page, name, look) => {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) wrong.push(`${name} (${look}) is ${over} px wider than the window`);
  await page.screenshot({ path: path.join(folder, `${name}-${look}.png`), fullPage: true });
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter((found) => ['serious', 'critical'].includes(found.impact));
  for (const found of serious) {
    const where = found.nodes.map((node) => `${node.html} ${node.failureSummary}`).join(' | ');
    wrong.push(`${name} (${look}): ${found.id}: ${where}`);
  }
};

export const hostile = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const html = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
  const rtl = '\u202Eevil\u202C \u0627\u0644\u0639\u0631\u0628\u064A\u0629';
  const ids = [];
  for (const owner of [html, rtl, 'a/b?c#d%2F e&f', '"\'`{{7*7}}']) {
    const id = await submit(`${owner} ${ids.length}`, owner, { note: owner, number: 1 });
    await fail(id);
    ids.push(id);
  }
  const long = await submit('long', 'long', { text: 'x'.repeat(900000) });
  await finish(long, 'fine');
  const addresses = [...ids, long].map((id) => `/console/submissions/${id}`);
  for (const address of [...addresses, '/console/submissions', '/console/dead', '/console/reviews', '/console/tail', '/console', `/console/submissions?q=${encodeURIComponent(html)}`, `/console/pipelines/${encodeURIComponent('a/b')}`]) {
    await page.goto(base + address);
    check(await page.evaluate(() => !window.pwned && !document.querySelector('main img, main script')), `${address} runs what others wrote`);
    const size = (await page.content()).length;
    check(size < 400000, `${address} has ${size} characters`);
  }
  await page.goto(`${base}/console/submissions`);
  await page.locator('.label', { hasText: 'a/b?c#d%2F e&f' }).first().click();
  await page.locator(`a[href="/console/submissions/${ids[2]}"]`).first().waitFor();
  check(await page.locator('tbody tr').count() === 1, 'a label is a filter, whatever is in it');
  fine();
};

export const without_scripts = async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  await signIn(page);
  const id = await submit('plain-1');
  await finish(id, 'fine');
  await page.goto(`${base}/console/submissions?q=${encodeURIComponent('state:REVIEW pipeline:orders')}`);
  await page.locator(`a[href="/console/submissions/${id}"]`).first().click();
  await page.locator('summary', { hasText: 'Approve' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.locator('.meta .state', { hasText: 'SHIPPED' }).waitFor();
  await page.locator('header [name=theme]').click();
  check(await page.locator('html').getAttribute('data-theme') === 'dark', 'the theme is kept without scripts');
};
