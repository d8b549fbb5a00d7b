// Runs before the first paint, so that a page in the dark never flashes white. A classic script: modules run too late.
(function () {
  try {
    const theme = localStorage.getItem('pilothouse.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
  } catch {
    // Storage may be forbidden; the system's choice holds then.
  }
})();
