"use strict";
// What every page shares: elements made of text alone, the theme, packed data.
const GM = {};

// Control characters but tab and newline, zero width, marks that turn the direction of writing.
GM.UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

GM.visible = (value) =>
  String(value).replace(GM.UNSEEN, (c) => "⟨U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");

// The only way in which pages make elements: what is not an element becomes text.
GM.el = (tag, properties, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  GM.fill(element, children);
  return element;
};

GM.fill = (element, children) => {
  for (const child of children.flat(3)) {
    if (child == null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(GM.visible(child)));
  }
  return element;
};

GM.show = (element, ...children) => {
  element.replaceChildren();
  return GM.fill(element, children);
};

GM.cut = (value, most) => (value.length > most ? value.slice(0, most - 1) + "…" : value);

// A long text with its beginning first: a megabyte must not hold the page up.
GM.long = (value, most = 6000) => {
  const box = GM.el("pre", { class: "text", tabindex: value.length > 300 ? "0" : null }, value.slice(0, most));
  if (value.length <= most) return box;
  const more = GM.el("button", { type: "button", class: "quiet" }, `Show all ${value.length.toLocaleString()} characters`);
  more.addEventListener("click", () => { GM.show(box, value); more.remove(); });
  return [box, more];
};

GM.number = (value, digits = 2) =>
  value == null ? "–" : Number(value).toLocaleString("en", { maximumFractionDigits: digits });

GM.unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

GM.store = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* a page from a disk */ } },
};

// Tags of an episode are the reader's own: this browser keeps them.
GM.tags = {
  of: (key) => GM.store.get("gym-memory-tags-" + key) || "",
  set: (key, text) => GM.store.set("gym-memory-tags-" + key, text.trim()),
};

GM.themes = ["auto", "light", "dark"];
GM.setTheme = (name) => {
  const button = document.getElementById("theme");
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  if (button) button.textContent = "Theme: " + name;
  GM.store.set("gym-memory-theme", name);
  document.dispatchEvent(new Event("theme"));
};

{
  const kept = GM.store.get("gym-memory-theme");
  const button = document.getElementById("theme");
  if (GM.themes.includes(kept) && kept !== "auto") GM.setTheme(kept);
  if (button) {
    button.addEventListener("click", () => {
      const now = document.documentElement.dataset.theme || "auto";
      GM.setTheme(GM.themes[(GM.themes.indexOf(now) + 1) % GM.themes.length]);
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("theme")));
}
