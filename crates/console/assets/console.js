// The console's own script. Pages are read, and forms are sent, without it: it makes them quicker.
(() => {
  'use strict';
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const PAUSED = 'milepost-paused';
  const ROWS_MAX = 300;

  const paused = () => sessionStorage.getItem(PAUSED) === '1';
  const writes = (element) => !!element && element.matches('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]');
  const dirty = () => all('main form').some((form) => [...form.elements].some((field) =>
    (field.matches('textarea, input:not([type=hidden]):not([type=checkbox]):not([type=radio])') && field.value !== field.defaultValue)));
  // A page is not changed under the hands of whoever fills in a form, picks rows or has opened something to act.
  const busy = () => {
    const live = one('#live');
    return !!live && ((live.contains(document.activeElement) && writes(document.activeElement))
      || !!one('details.act[open]', live) || !!one('input.pick:checked', live) || !!one('.menu-of[open]', live) || dirty());
  };

  // Times: how far from now, kept true.
  const UNITS = [[864e5, 'd', 36e5, 'h'], [36e5, 'h', 6e4, 'min'], [6e4, 'min', 6e4, 'min']];
  const span = (ms) => {
    if (ms < 6e4) return `${Math.floor(ms / 1e3)} s`;
    for (const [large, unit, small, next] of UNITS) {
      if (ms < large) continue;
      const whole = Math.floor(ms / large), rest = Math.floor((ms % large) / small);
      return rest && whole < 10 ? `${whole} ${unit} ${rest} ${next}` : `${whole} ${unit}`;
    }
    return '';
  };
  let apart = null;
  const tick = () => {
    for (const time of all('time')) {
      if (!/ ago$|^in |^just now$/.test(time.textContent)) continue;
      const at = Date.parse(time.dateTime);
      if (Number.isNaN(at)) continue;
      const ms = Date.now() - apart - at;
      const said = ms < 0 ? `in ${span(-ms)}` : ms < 1000 ? 'just now' : `${span(ms)} ago`;
      if (said !== time.textContent) time.textContent = said;
    }
  };
  // The server's clock may be another: the first time that is shown says how far it is off.
  const measure = () => {
    const now = Number(document.documentElement.dataset.now);
    apart = Number.isFinite(now) && now > 0 ? Date.now() - now : 0;
  };

  let toastTimer = 0;
  const toast = (text) => {
    const box = one('[data-toast]');
    box.textContent = text;
    box.hidden = false;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { box.hidden = true; }, 2500);
  };

  const copy = async (button) => {
    const from = button.dataset.copyFrom;
    const text = from ? document.getElementById(from).textContent : button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    button.classList.add('copied');
    setTimeout(() => button.classList.remove('copied'), 1500);
    toast('Copied');
  };

  // Freshness.
  const showLive = (away) => {
    for (const button of all('[data-pause]')) {
      button.setAttribute('aria-pressed', String(paused()));
      button.classList.toggle('away', !!away);
      one('[data-live-text]', button).textContent = paused() ? 'Paused' : away ? 'Reconnecting' : 'Live';
    }
  };
  const pause = () => {
    sessionStorage.setItem(PAUSED, paused() ? '0' : '1');
    showLive(false);
    if (!paused()) refresh();
  };
  // Evidence is checked by a script of its own, which most pages never need.
  const prove = async (button) => {
    const form = button.closest('[data-evidence]');
    const list = one('[data-checks]', form);
    list.replaceChildren();
    const say = (fine, claim, detail) => {
      const item = document.createElement('li');
      item.className = fine ? 'fine' : 'wrong';
      item.textContent = detail ? `${claim}: ${detail}` : claim;
      list.append(item);
    };
    button.disabled = true;
    try {
      const { check } = await import(`/console/assets/evidence.js?${document.documentElement.dataset.stamp}`);
      if (await check(form.dataset.evidence, one('[name=key]', form).value, say)) say(true, 'This page finds nothing wrong', 'that every move was legal is for the command above to say');
    } catch (error) {
      say(false, 'Not checked', error.message);
    }
    button.disabled = false;
  };
  let missed = false;
  const refresh = () => {
    const news = one('#news');
    if (news && window.htmx) htmx.trigger(news, 'news');
  };
  document.addEventListener('htmx:before:request', (event) => {
    const source = event.detail?.ctx?.sourceElement ?? event.target;
    if (source?.id !== 'live') return;
    if (paused() || busy()) {
      event.preventDefault();
      missed = true;
    }
  });
  let greeted = false;
  document.addEventListener('hello', (event) => {
    const stamp = event.detail?.data;
    if (stamp && stamp !== document.documentElement.dataset.stamp && !busy()) location.reload();
    else if (greeted) refresh();
    greeted = true;
    showLive(false);
  });
  document.addEventListener('htmx:sse:after:connection', () => showLive(false));
  document.addEventListener('htmx:sse:error', () => showLive(true));
  document.addEventListener('htmx:sse:before:connection', (event) => { if (event.detail?.connection?.attempt > 1) showLive(true); });
  // What passed by while paused is read once updates go on: the stream keeps its place.
  document.addEventListener('htmx:sse:before:message', (event) => {
    if (!event.target.matches?.('[data-tail]') || !paused()) return;
    event.detail.waitUntil(new Promise((go) => {
      const wait = setInterval(() => { if (!paused()) { clearInterval(wait); go(); } }, 200);
    }));
  });
  document.addEventListener('htmx:after:swap', () => {
    tick();
    mark();
    picked();
    const tail = one('[data-tail]');
    if (!tail) return;
    const quiet = one('[data-quiet]');
    if (quiet && tail.rows.length) quiet.hidden = true;
    while (tail.rows.length > ROWS_MAX) tail.deleteRow(-1);
  });
  document.addEventListener('focusout', () => setTimeout(() => { if (missed && !busy() && !paused()) { missed = false; refresh(); } }, 300));

  // Rows and cards by keyboard.
  let here = -1;
  const rows = () => all('[data-row]');
  const mark = () => rows().forEach((row, index) => row.classList.toggle('here', index === here));
  const step = (by) => {
    const list = rows();
    if (!list.length) return;
    here = Math.max(0, Math.min(list.length - 1, here + by));
    mark();
    list[here].scrollIntoView({ block: 'nearest' });
    if (list[here].matches('[data-card]')) list[here].focus();
  };
  const current = () => rows()[here];
  const act = (key) => {
    const card = document.activeElement?.closest?.('[data-card]') ?? current() ?? one('main');
    const form = one(`details.act[data-act="${CSS.escape(key)}"]`, card) ?? (current() ? null : one(`details.act[data-act="${CSS.escape(key)}"]`));
    if (!form) {
      const button = one(`[data-press="${CSS.escape(key)}"]`, card);
      if (!button) return false;
      button.click();
      return true;
    }
    form.open = true;
    (one('textarea, select, input:not([type=hidden])', form) ?? one('form button', form))?.focus();
    return true;
  };
  const picked = () => {
    const count = all('input.pick:checked').length;
    for (const told of all('[data-picked]')) told.textContent = `(${count})`;
  };

  const SHEET = [['/', 'Find'], ['g then a letter', 'Go to a page (the letters stand in the menu)'], ['j, k', 'Next, previous'],
    ['Enter', 'Open'], ['x', 'Pick'], ['a letter', 'The action that has it'], ['Ctrl Enter', 'Send the form'], ['Esc', 'Close'],
    ['y', 'Copy the id'], ['z', 'Pause updates'], ['?', 'These keys']];
  const sheet = () => {
    let dialog = one('#keys');
    if (!dialog) {
      dialog = document.createElement('dialog');
      dialog.id = 'keys';
      dialog.setAttribute('aria-labelledby', 'keys-title');
      const title = document.createElement('h2');
      title.id = 'keys-title';
      title.textContent = 'Keys';
      const list = document.createElement('dl');
      for (const [key, text] of SHEET) {
        const name = document.createElement('dt'), what = document.createElement('dd'), cap = document.createElement('kbd');
        cap.textContent = key;
        name.append(cap);
        what.textContent = text;
        list.append(name, what);
      }
      const close = document.createElement('button');
      close.textContent = 'Close';
      close.addEventListener('click', () => dialog.close());
      dialog.append(title, list, close);
      document.body.append(dialog);
    }
    dialog.open ? dialog.close() : dialog.showModal();
  };

  let going = 0;
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (key === 'Enter' && (event.ctrlKey || event.metaKey) && target.form) { target.form.requestSubmit(); return; }
    if (key === 'Escape') {
      const open = target.closest?.('details[open]') ?? one('.menu-of[open], .who[open]');
      if (open) { open.open = false; one('summary', open)?.focus(); } else target.blur?.();
      return;
    }
    if (writes(target) || event.ctrlKey || event.metaKey || event.altKey || one('dialog[open]')) return;
    if (Date.now() - going < 1500) {
      going = 0;
      document.body.classList.remove('show-keys');
      const link = one(`[data-key="${CSS.escape(key)}"]`);
      if (link) { event.preventDefault(); location.href = link.href; }
      return;
    }
    const keys = {
      '/': () => one('[data-search]')?.select(),
      '?': sheet,
      g: () => { going = Date.now(); document.body.classList.add('show-keys'); setTimeout(() => document.body.classList.remove('show-keys'), 1500); },
      j: () => step(1),
      k: () => step(-1),
      z: pause,
      x: () => { const box = current() && one('input.pick', current()); if (box) { box.checked = !box.checked; picked(); } },
      y: () => { const button = one('[data-copy]', current() ?? one('main')); if (button) copy(button); },
      Enter: () => { const link = !target.closest('a, button, summary') && current() && one('a', current()); if (link) location.href = link.href; else return false; },
    };
    const done = keys[key] ? keys[key]() : key.length === 1 && act(key);
    if (done !== false) event.preventDefault();
  });

  document.addEventListener('click', (event) => {
    const target = event.target.closest?.('button, input');
    for (const menu of all('.menu-of[open], .who[open]')) if (!menu.contains(event.target)) menu.open = false;
    if (!target) return;
    if (target.matches('.copy')) copy(target);
    else if (target.matches('[data-pause]')) pause();
    else if (target.matches('[data-keys]')) sheet();
    else if (target.matches('[data-check]')) prove(target);
    else if (target.matches('[data-pick-all]')) { for (const box of all('input.pick[name]')) box.checked = target.checked; picked(); }
    else if (target.matches('input.pick')) picked();
  });
  // A form is sent once.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.method !== 'post') return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = '1';
  });
  window.addEventListener('pageshow', () => { for (const form of all('form[data-sent]')) delete form.dataset.sent; });

  // The filter bar offers words.
  const offers = (input) => {
    const words = input.dataset.words.split('\n').filter(Boolean);
    const list = document.createElement('ul');
    list.className = 'words';
    list.id = 'words';
    list.setAttribute('role', 'listbox');
    list.hidden = true;
    input.after(list);
    input.setAttribute('role', 'combobox');
    input.setAttribute('aria-controls', 'words');
    input.setAttribute('aria-expanded', 'false');
    let chosen = -1;
    const hide = () => { list.hidden = true; chosen = -1; input.setAttribute('aria-expanded', 'false'); };
    const take = (word) => {
      input.value = input.value.replace(/\S*$/, word + (word.endsWith(':') ? '' : ' '));
      hide();
      input.focus();
    };
    const show = () => {
      const begun = /\S*$/.exec(input.value)[0].toLowerCase();
      const fit = words.filter((word) => word.toLowerCase().includes(begun) && word.toLowerCase() !== begun).slice(0, 12);
      list.replaceChildren(...fit.map((word) => {
        const item = document.createElement('li');
        item.setAttribute('role', 'option');
        item.textContent = word;
        item.addEventListener('mousedown', (event) => { event.preventDefault(); take(word); });
        return item;
      }));
      chosen = -1;
      list.hidden = !begun || !fit.length;
      input.setAttribute('aria-expanded', String(!list.hidden));
    };
    input.addEventListener('input', show);
    input.addEventListener('blur', hide);
    input.addEventListener('keydown', (event) => {
      if (list.hidden) return;
      const items = all('li', list);
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        chosen = (chosen + (event.key === 'ArrowDown' ? 1 : -1) + items.length) % items.length;
        items.forEach((item, index) => item.setAttribute('aria-selected', String(index === chosen)));
        items[chosen].scrollIntoView({ block: 'nearest' });
      } else if ((event.key === 'Enter' || event.key === 'Tab') && chosen >= 0) take(items[chosen].textContent);
      else return;
      event.preventDefault();
    });
  };

  document.addEventListener('DOMContentLoaded', () => {
    measure();
    showLive(false);
    picked();
    setInterval(tick, 1000);
    if (matchMedia('(max-width: 760px)').matches) one('[data-side]')?.removeAttribute('open');
    for (const input of all('[data-words]')) offers(input);
    const theme = one('[data-theme-switch]');
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    if (theme) theme.value = dark ? 'light' : 'dark';
  });
  // What a page has unfolded stays so when it is read again.
  if (window.htmx) htmx.registerExtension('keep', {
    htmx_before_morph_attr: (element, detail) => !(element.tagName === 'DETAILS' && detail.attrName === 'open'),
  });
})();
