// Returns ONE JSON string: size of the page, elements to mark with their boxes, places of text.
// With stamped = true the elements carry data-i="L12" or data-i="F2"; else they are numbered here.
async ({stamped}) => {
  // Fonts are asked for by a layout; without one "ready" would be true before any has begun to load.
  do {
    document.documentElement.getBoundingClientRect();
    await document.fonts.ready;
  } while (document.fonts.status === 'loading');
  // A lazy picture far down may never load: only what has been asked for is waited for.
  await Promise.all([...document.images].filter(i => i.loading !== 'lazy' || i.complete).map(i => i.decode().catch(() => 0)));
  const root = document.documentElement, left = scrollX, top = scrollY;
  const round = v => Math.round(v * 100) / 100;
  const box = r => [round(r.left + left), round(r.top + top), round(r.width), round(r.height)];
  // A form's fields hide its properties of the same name; these are the ones that every element has.
  const rectsOf = e => Element.prototype.getClientRects.call(e), rectOf = e => Element.prototype.getBoundingClientRect.call(e);
  const attribute = (e, name) => Element.prototype.getAttribute.call(e, name);
  const fieldsOf = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'elements').get;
  const onPage = r => r.width >= 1 && r.height >= 1 && r.right + left > 0 && r.bottom + top > 0;
  const seen = e => Element.prototype.checkVisibility.call(e, {opacityProperty: true, visibilityProperty: true}) && [...rectsOf(e)].some(onPage);
  // One box a line: parts of one line that touch (bidirectional text is split) are joined.
  const lines = rects => {
    const found = [];
    for (const r of rects) {
      if (r.width < 1 || r.height < 1) continue;
      const same = found.find(f => Math.min(f.bottom, r.bottom) - Math.max(f.top, r.top) > 0.6 * Math.min(f.bottom - f.top, r.height)
        && r.left <= f.right + 40 && r.right >= f.left - 40);
      if (same) { same.left = Math.min(same.left, r.left); same.right = Math.max(same.right, r.right);
        same.top = Math.min(same.top, r.top); same.bottom = Math.max(same.bottom, r.bottom); }
      else found.push({left: r.left, right: r.right, top: r.top, bottom: r.bottom});
    }
    return found.map(f => box({left: f.left, top: f.top, width: f.right - f.left, height: f.bottom - f.top}));
  };
  const texts = element => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), range = document.createRange(), rects = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.data.trim() || (node.parentElement && node.parentElement.closest('option, .visually-hidden'))) continue;
      range.selectNodeContents(node);
      rects.push(...range.getClientRects());
    }
    return lines(rects);
  };
  const controls = form => [...fieldsOf.call(form)].filter(e => e.type !== 'hidden' && seen(e)).map(e => box(rectOf(e)));
  let links, forms;
  if (stamped) {
    const marked = [...document.querySelectorAll('[data-i]')];
    links = marked.filter(e => e.dataset.i[0] === 'L');
    forms = marked.filter(e => e.dataset.i[0] === 'F');
  } else {
    links = [...document.querySelectorAll('a[href]:not([href^="#"])')].filter(seen);
    forms = [...document.querySelectorAll('form')].filter(seen);
  }
  const number = (e, index) => stamped ? Number(e.dataset.i.slice(1)) : index + 1;
  const rtl = e => getComputedStyle(e).direction === 'rtl';
  const image = e => [...e.querySelectorAll('img, svg')].map(i => i.getBoundingClientRect());
  const elements = [
    ...links.map((e, i) => {
      const own = lines([...rectsOf(e), ...(e.querySelector('img, svg') ? image(e) : [])]);
      return {number: number(e, i), kind: 'link', boxes: own, rtl: rtl(e), texts: texts(e), target: e.getAttribute('href'),
        label: (e.innerText || e.getAttribute('aria-label') || '').trim().slice(0, 200)};
    }),
    ...forms.map((e, i) => ({number: number(e, i), kind: 'form', boxes: [box(rectOf(e))], rtl: rtl(e),
      texts: [...texts(e), ...controls(e)], target: attribute(e, 'name') || '', label: attribute(e, 'aria-label') || ''})),
  ];
  return JSON.stringify({width: root.clientWidth, height: Math.max(root.scrollHeight, document.body ? document.body.scrollHeight : 0),
    overflow: root.scrollWidth - root.clientWidth, title: document.title, elements, texts: document.body ? texts(document.body) : []});
}
