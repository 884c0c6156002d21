<?php

declare(strict_types=1);

// Composer's autoloader where it was run, else the folders of Debian's packages.
$composer = __DIR__ . '/../vendor/autoload.php';
if (is_file($composer)) {
    require $composer;
    return;
}
$debian = [
    'Psr/Container',
    'Psr/Http/Client',
    'Psr/Http/Message',
    'Psr/SimpleCache',
    'Nyholm/Psr7',
    'Symfony/Component/HttpClient',
    'Symfony/Component/HttpFoundation',
    'Symfony/Component/Validator',
    'Illuminate/Validation',
];
foreach ($debian as $name) {
    $file = "/usr/share/php/$name/autoload.php";
    if (is_file($file)) {
        require_once $file;
    }
}
spl_autoload_register(static function (string $class): void {
    foreach (['Mailvet\\Tests\\' => __DIR__, 'Mailvet\\' => __DIR__ . '/../src'] as $prefix => $folder) {
        $file = $folder . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
            return;
        }
    }
    if ($class === 'Illuminate\Contracts\Validation\ValidationRule') {
        require __DIR__ . '/ValidationRule.php';
    }
});
