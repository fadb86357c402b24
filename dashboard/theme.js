// A classic script, so that the theme somebody chose is there before the first paint.
try {
  const theme = localStorage.getItem("punk.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* without storage the system decides */ }
