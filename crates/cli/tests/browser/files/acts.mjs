// What people do.
import { api, ask, base, check, fail, finish, makeToken, signIn, submit, until, visit } from './browser.mjs';

const state = async (id) => (await api('GET', `/v1/submissions/${id}`)).state;

export const sign_in = async () => {
  const { page, context, fine } = await visit();
  await page.goto(`${base}/console/holds`);
  check(page.url().includes('/console/sign-in'), 'whoever has no session is asked for a token');
  await page.getByLabel('Token').fill('not-a-token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('not valid').waitFor();
  await page.getByLabel('Token').fill(process.argv[4]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${base}/console/holds`);
  const kept = (await context.cookies()).find((cookie) => cookie.name === 'milepost_session');
  check(kept.httpOnly && kept.sameSite === 'Strict' && kept.path === '/console', JSON.stringify(kept));
  check(!(await page.evaluate(() => document.cookie)).includes('session'), 'no script reads the session');
  await page.locator('.who > summary').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(/sign-in/);
  await page.goto(`${base}/console`);
  check(page.url().includes('/console/sign-in'), 'signed out is out');
  const secret = await makeToken('passing', 'viewer');
  await signIn(page, secret);
  const passing = (await api('GET', '/v1/tokens')).tokens.find((known) => known.subject === 'passing');
  await api('DELETE', `/v1/tokens/${passing.id}`);
  await until(async () => { await page.goto(`${base}/console`); return page.url().includes('/console/sign-in'); }, 'a session ends with its token');
  fine();
};

export const moves_live = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const id = await submit('live-1');
  await page.goto(`${base}/console/submissions/${id}`);
  await page.locator('.meta .state', { hasText: 'CHECKING' }).waitFor();
  await page.evaluate(() => { window.untouched = true; });
  await finish(id, 'fine');
  await page.locator('.meta .state', { hasText: 'REVIEW' }).waitFor();
  await page.getByText('approve (reviewer)').first().waitFor();
  check(await page.evaluate(() => window.untouched), 'the page was not loaded anew');
  await page.goto(`${base}/console/submissions`);
  await page.getByRole('button', { name: 'Live' }).first().click();
  const quiet = await submit('live-2');
  const seen = () => page.locator(`[data-copy="${quiet}"]`).count();
  await page.waitForTimeout(2500);
  check(await seen() === 0, 'paused is paused');
  await page.getByRole('button', { name: 'Paused' }).first().click();
  await until(async () => await seen() > 0, 'what came meanwhile is there once updates go on');
  fine();
};

export const review_by_keyboard = async () => {
  const { page, fine } = await visit();
  await signIn(page, await makeToken('rita', 'reviewer'));
  const id = await submit('keys-1');
  await finish(id, 'fine');
  const keys = async (...list) => { for (const key of list) await page.keyboard.press(key); };
  await keys('g', 'r');
  await page.getByRole('heading', { name: 'Reviews' }).waitFor();
  await keys('j', 'a');
  await page.keyboard.type('looks right');
  await keys('Control+Enter');
  await until(async () => await state(id) === 'SHIPPED', 'it is approved');
  const { events } = await api('GET', `/v1/submissions/${id}/events`);
  check(events.some((event) => event.actor.name === 'rita' && JSON.stringify(event).includes('looks right')), 'by her, with her reason');
  await page.getByText('Done. The timeline').waitFor();
  await keys('?');
  await page.getByRole('dialog').waitFor();
  await keys('Escape', '/');
  await page.keyboard.type(id);
  await keys('Enter');
  await page.waitForURL(`${base}/console/submissions/${id}`);
  fine();
};

export const hold = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const id = await submit('hold-1');
  await page.goto(`${base}/console/submissions/${id}`);
  await page.getByRole('link', { name: 'Hold', exact: true }).click();
  await page.getByLabel('Reason').fill('the scale is being looked at');
  await page.getByRole('button', { name: 'Hold', exact: true }).click();
  await page.getByText('The hold is in force').waitFor();
  await page.goto(`${base}/console/submissions/${id}`);
  await page.locator('.why-box').getByText('the scale is being looked at').waitFor();
  await page.goto(`${base}/console/holds`);
  await page.getByText('Release', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Release' }).click();
  await page.getByText('The hold is released.', { exact: true }).waitFor();
  check((await api('GET', '/v1/holds')).holds.length === 0, 'nothing is held');
  // What is refused is not lost.
  await page.getByLabel('Reason').fill('a reason that took long to write');
  await page.getByRole('button', { name: 'Hold', exact: true }).click();
  await page.getByRole('alert').waitFor();
  check(await page.getByLabel('Reason').inputValue() === 'a reason that took long to write', 'the form is still there');
  fine();
};

export const redrive = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const id = await submit('dead-1');
  await fail(id);
  await page.goto(`${base}/console/dead`);
  await page.getByRole('heading', { name: 'broken' }).waitFor();
  await page.locator(`a[href="/console/submissions/${id}"]`).first().click();
  await page.locator('summary', { hasText: 'Redrive' }).click();
  await page.getByRole('button', { name: 'Redrive' }).click();
  await page.getByText('It is going again').waitFor();
  await until(async () => (await api('GET', `/v1/submissions/${id}`)).status === 'open', 'it is open');
  fine();
};

export const acknowledge = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const id = await submit('odd-1');
  await finish(id, 'odd');
  await page.goto(`${base}/console`);
  await page.locator('.figures a', { hasText: 'To investigate' }).click();
  await page.locator('summary', { hasText: 'Acknowledge' }).click();
  await page.getByLabel('What you found').fill('a mouse in the parcel');
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText('a mouse in the parcel').first().waitFor();
  check((await api('GET', '/v1/investigations')).submissions.length === 0, 'nobody need look any more');
  fine();
};

export const evidence = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const id = await submit('proof-1');
  await finish(id, 'fine');
  await until(async () => (await fetch(`${base}/v1/submissions/${id}/evidence`, { headers: { authorization: `Bearer ${process.argv[4]}` } })).ok, 'the log has it');
  const key = (await (await fetch(`${base}/v1/audit/key`)).text()).trim();
  await page.goto(`${base}/console/submissions/${id}`);
  await page.locator('summary', { hasText: 'Verify the evidence' }).click();
  await page.getByLabel("The log's key").fill(key);
  await page.getByRole('button', { name: 'Check in this page' }).click();
  await page.getByText('This page finds nothing wrong').waitFor();
  check(await page.locator('.checks .fine').count() === 6, 'every step is told');
  // What somebody has changed on the way is noticed.
  const claims = { payload: 'the documents are', state: 'the events follow', leaf: 'is in the log' };
  const change = {
    payload: (told) => { told.events[0].documents.payload.text += ' '; },
    state: (told) => { told.state = 'SHIPPED'; },
    leaf: (told) => { told.events[1].leaf = told.events[1].leaf.replace('REVIEW', 'SHIPPED'); },
  };
  for (const [what, changed] of Object.entries(change)) {
    await page.unroute('**/evidence');
    await page.route('**/evidence', async (route) => {
      const told = await (await route.fetch()).json();
      changed(told);
      await route.fulfill({ json: told });
    });
    await page.getByRole('button', { name: 'Check in this page' }).click();
    await page.locator('.checks .wrong', { hasText: claims[what] }).waitFor();
  }
  await page.unroute('**/evidence');
  await page.getByLabel("The log's key").fill(key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')));
  await page.getByRole('button', { name: 'Check in this page' }).click();
  await page.locator('.checks .wrong', { hasText: 'signed by this key' }).waitFor();
  fine();
};

export const amend = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const id = await submit('amend-1', 'acme', { note: 'by night' });
  await page.goto(`${base}/console/submissions/${id}`);
  for (const note of ['by day', 'at noon <b>']) {
    await page.locator('summary', { hasText: 'Amend' }).click();
    await page.getByLabel('Merge patch').fill(JSON.stringify({ note }));
    await page.getByRole('button', { name: 'Amend', exact: true }).click();
    await page.getByText('amended', { exact: false }).first().waitFor();
  }
  const changes = await page.locator('.changed').evaluateAll((all) => all.map((one) => [...one.querySelectorAll('del, ins')].map((part) => part.textContent)));
  check(JSON.stringify(changes) === JSON.stringify([['"by day"', '"at noon <b>"'], ['"by night"', '"by day"']]), JSON.stringify(changes));
  fine();
};

export const workers_and_overview = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const id = await submit('hand-1');
  const { tasks } = await api('POST', '/v1/tasks:claim', { worker: 'anna/w1', tasks: ['orders.check'], max: 1, wait: '5s' });
  check(tasks[0].submission === id, 'it is in hand');
  await api('POST', '/v1/tasks:renew', { tasks: [{ token: tasks[0].token, progress: { done: 3, total: 7, line: 'weighing' } }] });
  await page.goto(`${base}/console/workers`);
  const row = page.locator('tr', { hasText: 'anna/w1' });
  await row.getByText('3 of 7').waitFor();
  await row.getByText('weighing').waitFor();
  check(await row.locator(`[data-copy="${id}"]`).count() === 1, 'what a worker has in hand stands beside it');
  await page.goto(`${base}/console`);
  const card = page.locator('.pipeline', { hasText: 'orders' });
  check(/^M/.test(await card.locator('.spark .came').getAttribute('d')), 'what came in is drawn');
  check(Number.parseFloat(await card.locator('.rates dd').first().textContent()) > 0, 'so many a minute');
  await page.locator('.happened').getByText('orders').first().waitFor();
  await api('POST', '/v1/tasks:fail', { tasks: [{ token: tasks[0].token, error: { code: 'broken', message: 'the scale is stuck', retryable: false } }] });
  await page.goto(`${base}/console/dead`);
  check((await page.locator('.groups .big').first().textContent()).trim() === '1', 'dead letters are counted by what they died of');
  await finish(await submit('hand-2'), 'fine');
  await page.goto(`${base}/console/pipelines/orders`);
  check(await page.locator('.machine .stay').count() >= 1, 'stays are drawn');
  check(await page.locator('.machine .rate').count() >= 1, 'rates are drawn');
  await page.goto(`${base}/console/tail?label=${encodeURIComponent('owner:nobody-has-it')}`);
  check(await page.locator('#tail tr').count() === 0, 'a tail of one label shows no other');
  fine();
};

export const tail_through_restart = async () => {
  const { page } = await visit();
  await signIn(page);
  await page.goto(`${base}/console/tail`);
  const first = await submit('tail-1');
  await page.locator(`#tail [data-copy="${first}"]`).first().waitFor();
  await page.evaluate(() => { window.untouched = true; });
  await ask('restart');
  const second = await submit('tail-2');
  await page.locator(`#tail [data-copy="${second}"]`).first().waitFor({ timeout: 30000 });
  const third = await submit('tail-3');
  await page.locator(`#tail [data-copy="${third}"]`).first().waitFor();
  check(await page.evaluate(() => window.untouched), 'the page stayed open all the time');
  const numbers = await page.locator('#tail tr[data-seq]').evaluateAll((rows) => rows.map((row) => Number(row.dataset.seq)));
  check(numbers.every((number, index) => !index || number === numbers[index - 1] - 1), `none is missing and none is there twice: ${numbers}`);
};

export const open_over_a_deploy = async () => {
  const { page } = await visit();
  await signIn(page);
  await page.goto(`${base}/console/submissions`);
  // As it would be if the server that comes back were of another version.
  await page.evaluate(() => { window.untouched = true; document.documentElement.dataset.stamp = 'older'; });
  await ask('restart');
  await until(async () => page.evaluate(() => !window.untouched).catch(() => false), 'the page is loaded anew');
  const id = await submit('deployed-1');
  await page.locator(`[data-copy="${id}"]`).first().waitFor();
};

export const many = async () => {
  const { page, fine } = await visit();
  await signIn(page);
  const ids = [];
  for (const number of [1, 2, 3]) { const id = await submit(`many-${number}`, 'bulk'); await fail(id); ids.push(id); }
  await page.goto(`${base}/console/submissions?q=${encodeURIComponent('pipeline:orders status:dead label.owner:bulk')}`);
  await page.getByText('Act on many').click();
  await page.getByLabel('All that match').check();
  await page.locator('select[name=deed]').selectOption('redrive');
  await page.getByLabel('Reason').fill('the scale works again');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('Nothing was changed yet').waitFor();
  check((await Promise.all(ids.map(async (id) => (await api('GET', `/v1/submissions/${id}`)).status))).every((status) => status === 'dead'), 'a preview changes nothing');
  await page.getByRole('button', { name: 'Do it to 3 submissions' }).click();
  await page.locator('.figure.good .big', { hasText: '3' }).waitFor();
  await until(async () => (await Promise.all(ids.map(async (id) => (await api('GET', `/v1/submissions/${id}`)).status))).every((status) => status === 'open'), 'all go on');
  // Those that were picked, one by one.
  for (const id of ids) await fail(id);
  await page.goto(`${base}/console/submissions?q=${encodeURIComponent('pipeline:orders status:dead label.owner:bulk')}`);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('Act on many').click();
  await page.locator('select[name=deed]').selectOption('redrive');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('heading', { name: '1 of 1 done' }).waitFor();
  fine();
};

export const not_for_viewers = async () => {
  const { page, context, fine } = await visit();
  const id = await submit('viewer-1');
  await finish(id, 'fine');
  const dead = await submit('viewer-2');
  await fail(dead);
  await signIn(page, await makeToken('vera', 'viewer'));
  await page.goto(`${base}/console/submissions/${id}`);
  check(await page.locator('.act').count() === 0, 'a viewer is offered no action');
  await page.getByText('Not for you').click();
  await page.getByText('reviewer').first().waitFor();
  for (const path of [`/console/submissions/${dead}`, '/console/holds', '/console/dead', '/console/submissions?q=status:dead']) {
    await page.goto(base + path);
    check(await page.locator('main form[method=post]').count() === 0, `a viewer has no form at ${path}`);
  }
  const post = (path, form) => context.request.post(base + path, { form, headers: { origin: base, accept: 'text/html' }, maxRedirects: 0 });
  for (const [path, form] of [[`/console/submissions/${id}/act`, { action: 'approve' }], [`/console/submissions/${dead}/redrive`, {}], ['/console/holds', { pipeline: 'orders', reason: 'x' }], ['/console/operations', { q: 'pipeline:orders', deed: 'redrive' }], ['/console/tokens', { subject: 'x', token_role: 'admin' }]]) {
    const answer = await post(path, form);
    check(answer.status() === 403, `${path}: ${answer.status()}`);
  }
  check(await state(id) === 'REVIEW', 'nothing was done');
  // A form of another site is none of ours.
  const foreign = await context.request.post(`${base}/console/sign-out`, { headers: { origin: 'http://evil.example', accept: 'text/html' }, maxRedirects: 0 });
  check(foreign.status() === 403, `a foreign form: ${foreign.status()}`);
  fine();
};

export const scoped = async () => {
  const { page, fine } = await visit();
  const theirs = await submit('theirs-1', 'theirs');
  await fail(theirs);
  await signIn(page, await makeToken('otto', 'admin', { labels: { owner: 'other' } }));
  for (const path of ['/console', '/console/submissions', '/console/dead', '/console/tail', '/console/reviews', '/console/investigations', '/console/overdue', '/console/operations', '/console/holds']) {
    await page.goto(base + path);
    check(!(await page.content()).includes(theirs), `${path} shows what is not theirs`);
  }
  const answer = await page.goto(`${base}/console/submissions/${theirs}`);
  check(answer.status() === 404, `what is outside is not there: ${answer.status()}`);
  fine();
};
